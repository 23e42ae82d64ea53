import { webhook, webhookSecret, writtenWebhook } from '../../shared/documents/webhooks.ts';
import { invalidArgument } from '../../shared/errors/s3-error.ts';
import { noSuchWebhook, readWebhookDefinition, readWebhookName } from '../../shared/events/webhook-targets.ts';
import { xmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { ownAccount, shownWebhook, webhookArnOf } from '../../shared/protocol/own-webhooks.ts';

/** Returns a webhook of the caller's project, without its secret. docs/events.md */
export const getWebhook = defineOperation({
  name: 'GetWebhook',
  on: 'service',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ query }) => ({ name: readWebhookName(query.get('name') ?? '') }),
  authorise: () => [{ action: 'GetWebhook' }],
  act: async ({ name }, { caller, projects, eventTargets }) => {
    const account = await ownAccount(caller, projects);
    const found = await eventTargets?.webhooks.find(account.id, name);
    if (found === undefined) throw noSuchWebhook(name);
    return shownWebhook(account, found);
  },
  render: (found, _, { settings }) => ({ xml: webhook.write(found, settings.xmlNamespace) }),
});

/** Creates a webhook of the caller's project, or changes it. docs/events.md */
export const putWebhook = defineOperation({
  name: 'PutWebhook',
  on: 'service',
  body: xmlBody(writtenWebhook),
  needs: { table: 'write' },
  parse: ({ query }) => ({ name: readWebhookName(query.get('name') ?? '') }),
  authorise: () => [{ action: 'PutWebhook' }],
  act: async ({ name }, { authorisation, caller, document, projects, eventTargets, settings }) => {
    const definition = readWebhookDefinition(document);
    if (eventTargets === undefined)
      throw invalidArgument('Url', document.url, 'This deployment does not deliver events to webhooks.');
    const reason = await eventTargets.refusal(definition.url);
    if (reason !== undefined) throw invalidArgument('Url', document.url, `The URL may not be called: ${reason}.`);
    const account = await ownAccount(caller, projects);
    const { webhooksPerProject: limit } = settings.limits;
    const secret = await eventTargets.webhooks.put({ authorisation, project: account.id, limit }, name, definition);
    return { name, arn: webhookArnOf(account, name), secret };
  },
  render: (made, _, { settings }) => ({ xml: webhookSecret.write(made, settings.xmlNamespace) }),
});

/** Removes a webhook of the caller's project, and the events that wait for it. docs/events.md */
export const deleteWebhook = defineOperation({
  name: 'DeleteWebhook',
  on: 'service',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ query }) => ({ name: readWebhookName(query.get('name') ?? '') }),
  authorise: () => [{ action: 'DeleteWebhook' }],
  act: async ({ name }, { authorisation, caller, projects, eventTargets }) => {
    const { id } = await ownAccount(caller, projects);
    if (eventTargets === undefined) throw noSuchWebhook(name);
    await eventTargets.webhooks.remove(id, name, authorisation);
  },
  render: () => ({ status: 204 }),
});
