import { webhookSecret } from '../../shared/documents/webhooks.ts';
import { noSuchWebhook, readWebhookName } from '../../shared/events/webhook-targets.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { ownAccount, webhookArnOf } from '../../shared/protocol/own-webhooks.ts';

/** Replaces the secret of a webhook of the caller's project, and returns the new one. docs/events.md */
export const rotateWebhookSecret = defineOperation({
  name: 'RotateWebhookSecret',
  on: 'service',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ query }) => ({ name: readWebhookName(query.get('name') ?? '') }),
  authorise: () => [{ action: 'RotateWebhookSecret' }],
  act: async ({ name }, { authorisation, caller, projects, eventTargets }) => {
    const account = await ownAccount(caller, projects);
    if (eventTargets === undefined) throw noSuchWebhook(name);
    const secret = await eventTargets.webhooks.rotate(account.id, name, authorisation);
    return { name, arn: webhookArnOf(account, name), secret };
  },
  render: (rotated, _, { settings }) => ({ xml: webhookSecret.write(rotated, settings.xmlNamespace) }),
});
