import type { Command } from 'commander';
import { deadLetterTime, type DeadLetter } from '../../../shared/events/event-queue.ts';
import type { EventRecord } from '../../../shared/events/event-record.ts';
import { recordReport, tableReport, time } from '../../../shared/command-line/report.ts';
import { argument, command, optional, Refusal } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';
import { family, verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';

const { text, object, optional: maybe } = result;

/** S3's record, version 2.5. */
const eventRecord = object({
  ...{ eventVersion: text, eventSource: text, awsRegion: text, eventTime: text, eventName: text },
  userIdentity: object({ principalId: text }),
  requestParameters: object({ sourceIPAddress: text }),
  responseElements: object({ 'x-amz-request-id': text, 'x-amz-id-2': text }),
  s3: object({
    ...{ s3SchemaVersion: text, configurationId: text },
    bucket: object({ name: text, ownerIdentity: object({ principalId: text }), arn: text }),
    object: object({ key: text, size: result.bytes, eTag: text, versionId: maybe(text), sequencer: text }),
  }),
  stillage: maybe(result.texts),
});
const givenUp = object({ id: text, webhook: text, reason: text, failed: result.time, record: eventRecord });

export const eventsCommands = {
  list: command(
    'events list',
    'read',
    { project: argument.text },
    object({ dropped: result.count, events: result.list(givenUp) }),
    async ({ accounts, eventQueue, clock }, { project }) => {
      const { id } = await accounts.project(project);
      const letters: DeadLetter[] = [];
      for await (const letter of eventQueue.deadLetters(id)) {
        if (letter.failed >= clock.now() - deadLetterTime) letters.push(letter);
      }
      return { dropped: await eventQueue.dropped(id), events: letters.map(shown) };
    },
  ),
  show: command(
    'events show',
    'read',
    { project: argument.text, id: argument.word },
    givenUp,
    async ({ accounts, eventQueue }, { project, id }) => {
      const letter = await eventQueue.deadLetter((await accounts.project(project)).id, id);
      if (letter === undefined) throw new Refusal(`there is no event ${JSON.stringify(id)} that was given up`);
      return shown(letter);
    },
  ),
  /** Replays one event, or all. */
  replay: command(
    'events replay',
    'manage',
    { project: argument.text, id: optional(argument.word) },
    object({ replayed: result.count, left: result.count }),
    async ({ accounts, eventQueue, webhooks, clock }, { project, id }) => {
      const { id: owner } = await accounts.project(project);
      const known = new Map((await webhooks.of(owner)).map((webhook) => [webhook.name, webhook.id]));
      let [replayed, left] = [0, 0];
      for await (const letter of eventQueue.deadLetters(owner)) {
        if (id !== undefined && letter.id !== id) continue;
        const webhook = known.get(letter.webhook);
        if (webhook === undefined) left += 1;
        else if (await eventQueue.replay(owner, webhook, letter, clock.now())) replayed += 1;
      }
      if (id !== undefined && replayed + left === 0)
        throw new Refusal(`there is no event ${JSON.stringify(id)} that was given up`);
      return { replayed, left };
    },
  ),
};

/** Returns an event that was given up, with its record. */
function shown({ id, webhook, reason, failed, record }: DeadLetter) {
  return { id, webhook, reason, failed, record: JSON.parse(record) as EventRecord };
}

/** Returns `stillage events`. */
export function commandLine(named: Named): Command {
  const id: operand.Operand = ['<id>', 'id of the event', operand.word];
  return family(named, [
    verb({
      name: 'list',
      does: 'List the events of a project that were given up in the last 14 days',
      operands: [operand.project],
      examples: ['events list shop@acme'],
      act: async (ask, [project]) => {
        const { dropped, events } = await ask(eventsCommands.list, { project: project! });
        const { text } = tableReport(
          events,
          [
            ['ID', (event) => event.id],
            ['GIVEN UP', ({ failed }) => time(failed)],
            ['WEBHOOK', ({ webhook }) => webhook],
            ['EVENT', ({ record }) => record.eventName],
            ['KEY', ({ record }) => `${record.s3.bucket.name}/${record.s3.object.key}`],
            ['REASON', ({ reason }) => reason],
          ],
          'no events were given up',
        );
        const data = { dropped, events: events.map((event) => ({ ...event, failed: isoOf(event.failed) })) };
        return { data, text: dropped > 0 ? `${text}\n\n${dropped} events were dropped` : text };
      },
    }),
    verb({
      name: 'show',
      does: 'Show an event that was given up',
      operands: [operand.project, id],
      examples: ['events show shop@acme AP6w61-P5FSALQ75-H-fIgggzpaO'],
      act: async (ask, [project, which]) => {
        const event = await ask(eventsCommands.show, { project: project!, id: which! });
        const data = { ...event, failed: isoOf(event.failed) };
        return { data, text: JSON.stringify(data.record, undefined, 2) };
      },
    }),
    verb({
      name: 'replay',
      does: 'Deliver events again that were given up: one, or all of a project',
      operands: [operand.project, operand.optionally(id)],
      examples: ['events replay shop@acme', 'events replay shop@acme AP6w61-P5FSALQ75-H-fIgggzpaO'],
      act: async (ask, [project, which]) => {
        const done = await ask(eventsCommands.replay, { project: project!, id: which });
        return recordReport(done, [
          ['replayed', String(done.replayed)],
          ['left', done.left === 0 ? undefined : `${done.left}: their webhooks are gone`],
        ]);
      },
    }),
  ]);
}

const isoOf = (at: number): string => new Date(at).toISOString();
