import { daysOf, monthOf } from '../../shared/metadata/table/days.ts';
import { projectUsage } from '../../shared/metadata/billing/project-usage.ts';
import { argument, command, optional, Refusal } from './command.ts';

export const usageCommands = {
  /** @param month `2026-11`. Default: the current month */
  usage: command(
    { project: argument.text, month: optional(argument.text) },
    async ({ accounts, table, clock }, { project, month }) => {
      const { id, email } = await accounts.project(project);
      const now = clock.now();
      const asked = month ?? monthOf(now);
      const days = daysOf(asked);
      if (days === undefined) throw new Refusal(`${JSON.stringify(asked)} is not a month such as 2026-11`);
      return { project: email, id, month: asked, days: await projectUsage(table, id, days, now) };
    },
  ),
};
