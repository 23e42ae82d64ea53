import type { Command } from 'commander';
import type { suspending } from '../../functions/admin/command.ts';
import { verb } from './command.ts';
import type { Operand } from './operands.ts';
import type { Column } from '../../shared/command-line/report.ts';
import { time } from '../../shared/command-line/report.ts';

/** The fields of every listed item that can be suspended. */
interface Listed {
  readonly created: number;
  readonly suspended: boolean;
}

export const statusOf = ({ suspended }: Listed): string => (suspended ? 'suspended' : 'active');

/** The last columns of a list of such items. */
export const statusColumns: readonly Column<Listed>[] = [
  ['STATUS', statusOf],
  ['CREATED', ({ created }) => time(created)],
];

/** Returns the commands `suspend` and `resume` of a family. */
export function suspensions(
  kind: string,
  operand: Operand,
  example: string,
  commands: ReturnType<typeof suspending>,
): readonly Command[] {
  const change = (name: 'suspend' | 'resume', does: string): Command =>
    verb({
      name,
      does,
      operands: [operand],
      examples: [`${kind} ${name} ${example}`],
      act: async (ask, [which]) => {
        await ask(commands[name], { [kind]: which! });
        return `${which} is ${name === 'suspend' ? 'suspended: requests are refused within seconds' : 'active again'}`;
      },
    });
  return [
    change('suspend', `Refuse all requests of a ${kind} with 403 UserSuspended`),
    change('resume', `Accept requests of a suspended ${kind} again`),
  ];
}
