import { notification, type UnnamedNotificationRule } from '../../shared/documents/notification.ts';
import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import { testEvent } from '../../shared/events/event-record.ts';
import { decodeNotification, encodeNotification } from '../../shared/events/notification-document.ts';
import { parseWebhookArn, type Webhook } from '../../shared/events/webhook-targets.ts';
import { withIds } from '../../shared/lifecycle/rule-ids.ts';
import { EventLoopBudget } from '../../shared/ports/event-loop.ts';
import { xmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { defineOperation, emptyXml, type Context } from '../../shared/protocol/operation.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketNotificationConfiguration.html */
export const getBucketNotificationConfiguration = defineOperation({
  name: 'GetBucketNotificationConfiguration',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketNotification', bucket }],
  act: async (_, { bucket, buckets }) => decodeNotification(await buckets.documents.of(bucket, 'notification')),
  render: (configuration, _, { settings }) => ({ xml: notification.write(configuration, settings.xmlNamespace) }),
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketNotificationConfiguration.html */
export const putBucketNotificationConfiguration = defineOperation({
  name: 'PutBucketNotificationConfiguration',
  on: 'bucket',
  body: xmlBody(notification, ({ rules }, limits) => {
    if (rules.length > limits.notificationRules) throw new S3Error('MalformedXML');
  }),
  needs: { table: 'write' },
  parse: ({ bucket, fields }) => ({
    bucket,
    skipsValidation: fields.get('x-amz-skip-destination-validation')?.toLowerCase() === 'true',
  }),
  authorise: ({ bucket }) => [{ action: 'PutBucketNotification', bucket }],
  act: async ({ skipsValidation }, context) => {
    const { authorisation, buckets, document, settings } = context;
    const { rules, eventBridge } = document;
    if (eventBridge)
      throw unableToValidate('EventBridgeConfiguration', 'This deployment does not deliver to EventBridge');
    const targets = new Map<string, Webhook>();
    for (const rule of rules) {
      if (!targets.has(rule.target)) targets.set(rule.target, await targetOf(rule, context));
    }
    if (!skipsValidation) await Promise.all([...targets].map(([arn, webhook]) => validate(arn, webhook, context)));
    const named = await new EventLoopBudget().run(withIds(rules));
    const configuration = encodeNotification({ rules: named, eventBridge, region: settings.region });
    await buckets.documents.set(authorisation, 'notification', configuration);
  },
  render: emptyXml,
});

type PutContext = Pick<Context<'bucket', 'none'>, 'authorisation' | 'bucket' | 'projects' | 'eventTargets' | 'clock'>;

/**
 * Returns the target of a rule. One of another project is not found, whoever configures the bucket: its owner would be sent what others
 * choose.
 * @throws S3Error InvalidArgument
 */
async function targetOf({ via, target }: UnnamedNotificationRule, context: PutContext): Promise<Webhook> {
  const { bucket, projects, eventTargets } = context;
  if (!/^arn:[^:]*:[^:]*:[^:]*:[^:]*:./.test(target)) throw invalidArgument(via, target, 'The ARN is not well formed');
  const named = via === 'CloudFunction' ? undefined : parseWebhookArn(target);
  if (named === undefined || eventTargets === undefined) {
    throw unableToValidate(target, 'This deployment does not deliver to such destinations');
  }
  const owner = await projects.byNumber(named.account);
  const webhook = owner?.id === bucket.project ? await eventTargets.webhooks.find(owner.id, named.name) : undefined;
  if (webhook === undefined) throw unableToValidate(target, 'The destination does not exist');
  return webhook;
}

/** Sends a test event, as S3 does. @throws S3Error InvalidArgument unless it is taken */
async function validate(arn: string, webhook: Webhook, context: PutContext): Promise<void> {
  const { authorisation, bucket, eventTargets, clock } = context;
  const body = testEvent(bucket.name, authorisation.origin, clock.now());
  const reason = await eventTargets!.test(webhook, body);
  if (reason !== undefined) throw unableToValidate(arn, reason);
}

function unableToValidate(name: string, reason: string): S3Error {
  return new S3Error('InvalidArgument', {
    message: 'Unable to validate the following destination configurations',
    details: { ArgumentName: name, ArgumentValue: reason },
  });
}
