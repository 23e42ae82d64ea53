import { webhookTest } from '../../shared/documents/webhooks.ts';
import { webhookTestEvent } from '../../shared/events/event-record.ts';
import { noSuchWebhook, readWebhookName } from '../../shared/events/webhook-targets.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { ownAccount } from '../../shared/protocol/own-webhooks.ts';

/** Sends a test event to a webhook of the caller's project, once, and tells whether it was taken. docs/events.md */
export const testWebhook = defineOperation({
  name: 'TestWebhook',
  on: 'service',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ query }) => ({ name: readWebhookName(query.get('name') ?? '') }),
  authorise: () => [{ action: 'TestWebhook' }],
  act: async ({ name }, { caller, clock, projects, eventTargets, requestId }) => {
    const { id } = await ownAccount(caller, projects);
    const webhook = await eventTargets?.webhooks.find(id, name);
    if (eventTargets === undefined || webhook === undefined) throw noSuchWebhook(name);
    return eventTargets.test(webhook, webhookTestEvent(requestId, clock.now()));
  },
  render: (reason, { name }, { settings }) => ({
    xml: webhookTest.write({ name, isTaken: reason === undefined, reason }, settings.xmlNamespace),
  }),
});
