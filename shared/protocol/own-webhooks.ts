import type { Account, Caller, Projects } from '../access/identity.ts';
import type { ShownWebhook } from '../documents/webhooks.ts';
import { S3Error } from '../errors/s3-error.ts';
import { webhookArn, type Webhook } from '../events/webhook-targets.ts';

/** Returns the project of the caller, by whose number ARNs name its webhooks. @throws S3Error AccessDenied (anonymous) */
export async function ownAccount(caller: Caller, projects: Projects): Promise<Account> {
  if (caller.kind !== 'user') throw new S3Error('AccessDenied');
  return projects.account(caller.project);
}

/** Returns the ARN of a webhook of a project. */
export function webhookArnOf({ accountNumber }: Account, name: string): string {
  return webhookArn(accountNumber, name);
}

/** Returns a webhook as shown in responses, without its secret. */
export function shownWebhook(account: Account, { name, url, format, batch, created }: Webhook): ShownWebhook {
  return { name, arn: webhookArnOf(account, name), url, format, batch, created };
}
