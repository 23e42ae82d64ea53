import type { Command } from 'commander';
import {
  maximumBatch,
  readWebhookName,
  readWebhookUrl,
  webhookArn,
  webhookFormats,
  type Webhook,
  type WebhookFormat,
} from '../../../shared/events/webhook-targets.ts';
import { option } from '../../../shared/command-line/option.ts';
import { checked, number } from '../../../shared/command-line/option-values.ts';
import { recordReport, tableReport, time, type Report } from '../../../shared/command-line/report.ts';
import { accountNumber } from '../../../shared/accounts/account-numbers.ts';
import { argument, command, Refusal, type AdministrationDeps } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';
import { family, limitOfService, verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';

const named = { project: argument.text, name: argument.text } as const;

const target = {
  name: result.text,
  url: result.text,
  batch: result.count,
  format: result.enum(webhookFormats),
} as const;
const shownWebhook = result.object({ ...target, created: result.time, arn: result.text });
const rotated = result.object({ name: result.text, secret: result.text });

export const webhookCommands = {
  add: command(
    'webhook add',
    'manage',
    { ...named, url: argument.text, batch: argument.number, format: argument.text },
    result.object({ ...target, arn: result.text, secret: result.text }),
    async (deps, { project, name, ...given }) => {
      const { id } = await deps.accounts.project(project);
      const definition = { url: readWebhookUrl(given.url), batch: given.batch, format: readFormat(given.format) };
      checkBatch(definition);
      const { webhooksPerProject } = deps.settings.limits;
      const secret = await deps.webhooks.add(id, readWebhookName(name), definition, webhooksPerProject);
      return { ...definition, name, arn: await arnOf(deps, id, name), secret };
    },
  ),
  list: command(
    'webhook list',
    'read',
    { project: argument.text },
    result.list(shownWebhook),
    async (deps, { project }) => {
      const { id } = await deps.accounts.project(project);
      return Promise.all((await deps.webhooks.of(id)).map((webhook) => shown(deps, webhook)));
    },
  ),
  rotate: command('webhook rotate', 'manage', named, rotated, async ({ accounts, webhooks }, { project, name }) => {
    return { name, secret: await webhooks.rotate((await accounts.project(project)).id, name) };
  }),
  remove: command(
    'webhook remove',
    'manage',
    named,
    result.nothing,
    async ({ accounts, webhooks }, { project, name }) => {
      await webhooks.remove((await accounts.project(project)).id, name);
    },
  ),
};

/** @throws Refusal */
function readFormat(text: string): WebhookFormat {
  const format = webhookFormats.find((each) => each === text);
  if (format === undefined) throw new Refusal(`format must be one of ${webhookFormats.join(', ')}`);
  return format;
}

/** @throws Refusal */
function checkBatch({ batch, format }: { readonly batch: number; readonly format: WebhookFormat }): void {
  if (batch < 1 || batch > maximumBatch) throw new Refusal(`batch must be a whole number from 1 to ${maximumBatch}`);
  if (format === 'cloudevents' && batch > 1) throw new Refusal('a CloudEvent is a message of its own: batch must be 1');
}

async function arnOf({ table }: AdministrationDeps, project: string, name: string): Promise<string> {
  return webhookArn(await accountNumber(table, project), name);
}

/** Returns a webhook without its secret. */
async function shown(deps: AdministrationDeps, { project, name, url, batch, format, created }: Webhook) {
  return { name, url, batch, format, created, arn: await arnOf(deps, project, name) };
}

// Made when they are needed, as in the other families: the cloud has their commands, and neither operands nor options.
const which = (): readonly operand.Operand[] => [
  operand.project,
  ['<name>', 'name of the webhook', checked(readWebhookName)],
];

interface AddOptions {
  readonly batch: number;
  readonly format: WebhookFormat;
}

const secretNote = 'Messages are signed with this secret, which is shown only now:';

/** Returns `stillage webhook`. */
export function commandLine(named: Named): Command {
  const batch = number(
    (value) => Number.isInteger(value) && value >= 1 && value <= maximumBatch,
    `Must be a whole number from 1 to ${maximumBatch}.`,
  );
  return family(named, [
    verb<AddOptions>({
      name: 'add',
      does: 'Add a webhook and print its ARN, and the secret that signs its messages',
      operands: [...which(), ['<url>', 'https:// URL to call', checked(readWebhookUrl)]],
      options: [
        option('--batch <n>', `records in one message, at most ${maximumBatch}`, batch).default(1),
        option('--format <name>', 'form of the messages')
          .choices([...webhookFormats])
          .default('s3'),
      ],
      service: [limitOfService()],
      examples: ['webhook add shop@acme thumbnails https://hooks.example.com/new-picture'],
      act: async (ask, [project, name, url], { batch: most, format }) => {
        const given = { project: project!, name: name!, url: url!, batch: most, format };
        const added = await ask(webhookCommands.add, given);
        const { data, text } = recordReport(added, [
          ['name', added.name],
          ['url', added.url],
          ['arn', added.arn],
        ]);
        return { data, text: `${text}\n\n${secretNote}\n${added.secret}` };
      },
    }),
    verb({
      name: 'list',
      does: 'List the webhooks of a project',
      operands: [operand.project],
      examples: ['webhook list shop@acme'],
      act: async (ask, [project]): Promise<Report> => {
        const webhooks = await ask(webhookCommands.list, { project: project! });
        const { text } = tableReport(
          webhooks,
          [
            ['NAME', (webhook) => webhook.name],
            ['CREATED', ({ created }) => time(created)],
            ['URL', ({ url }) => url],
            ['ARN', ({ arn }) => arn],
          ],
          'no webhooks',
        );
        return {
          data: webhooks.map((webhook) => ({ ...webhook, created: new Date(webhook.created).toISOString() })),
          text,
        };
      },
    }),
    verb({
      name: 'rotate',
      does: 'Replace the secret of a webhook and print the new one, which counts at once',
      operands: which(),
      examples: ['webhook rotate shop@acme thumbnails'],
      act: async (ask, [project, name]) => {
        const rotated = await ask(webhookCommands.rotate, { project: project!, name: name! });
        return { data: rotated, text: `${secretNote}\n${rotated.secret}` };
      },
    }),
    verb({
      name: 'remove',
      does: 'Remove a webhook, and the events that wait for it',
      operands: which(),
      examples: ['webhook remove shop@acme thumbnails'],
      act: async (ask, [project, name]) => {
        await ask(webhookCommands.remove, { project: project!, name: name! });
        return `removed ${name}`;
      },
    }),
  ]);
}
