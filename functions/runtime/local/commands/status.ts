import type { Command } from 'commander';
import { verb, type Rooms } from './command.ts';
import type { Column } from './report.ts';
import { time } from './report.ts';

/** What lists say of everything that can be suspended. */
interface Listed {
  readonly created: number;
  readonly suspended: boolean;
}

export const statusOf = ({ suspended }: Listed): string => (suspended ? 'suspended' : 'active');

/** The last columns of such a list. */
export const statusColumns: readonly Column<Listed>[] = [
  ['STATUS', statusOf],
  ['CREATED', ({ created }) => time(created)],
];

/** `suspend` and `resume` of a family. */
export function suspensions(
  kind: string,
  operand: string,
  example: string,
  suspend: (rooms: Rooms, name: string, suspended: boolean) => Promise<void>,
): readonly Command[] {
  const change = (name: string, does: string, suspended: boolean): Command =>
    verb({
      name,
      does,
      operands: [[operand, `which ${kind}`]],
      examples: [`${kind} ${name} ${example}`],
      act: async (rooms, [which]) => {
        await suspend(rooms, which!, suspended);
        return `${which} is ${suspended ? 'suspended: requests are refused within seconds' : 'active again'}`;
      },
    });
  return [
    change('suspend', `refuse all requests of a ${kind} (403 UserSuspended), until it is resumed`, true),
    change('resume', `end the suspension of a ${kind}`, false),
  ];
}
