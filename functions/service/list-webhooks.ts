import { webhookListing } from '../../shared/documents/webhooks.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { ownAccount, shownWebhook } from '../../shared/protocol/own-webhooks.ts';

/** Returns the webhooks of the caller's project by name, without their secrets. There are few. docs/events.md */
export const listWebhooks = defineOperation({
  name: 'ListWebhooks',
  on: 'service',
  body: 'none',
  needs: { table: 'read' },
  parse: () => ({}),
  authorise: () => [{ action: 'ListWebhooks' }],
  act: async (_, { caller, projects, eventTargets }) => {
    const account = await ownAccount(caller, projects);
    const webhooks = (await eventTargets?.webhooks.of(account.id)) ?? [];
    return { webhooks: webhooks.map((webhook) => shownWebhook(account, webhook)) };
  },
  render: (listing, _, { settings }) => ({ xml: webhookListing.write(listing, settings.xmlNamespace) }),
});
