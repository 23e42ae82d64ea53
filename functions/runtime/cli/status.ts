import type { Command } from 'commander';
import type { Ask } from '../../admin/commands.ts';
import { verb } from './command.ts';
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
  carryOut: (ask: Ask, name: string, verb: 'suspend' | 'resume') => Promise<unknown>,
): readonly Command[] {
  const change = (name: 'suspend' | 'resume', does: string): Command =>
    verb({
      name,
      does,
      operands: [[operand, `which ${kind}`]],
      examples: [`${kind} ${name} ${example}`],
      act: async (ask, [which]) => {
        await carryOut(ask, which!, name);
        return `${which} is ${name === 'suspend' ? 'suspended: requests are refused within seconds' : 'active again'}`;
      },
    });
  return [
    change('suspend', `refuse all requests of a ${kind} (403 UserSuspended), until it is resumed`),
    change('resume', `end the suspension of a ${kind}`),
  ];
}
