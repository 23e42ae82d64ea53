import type { Template } from 'aws-cdk-lib/assertions';
import { resources } from './synthesis.ts';

/** Who publishes to a topic: a service of AWS, in the name of a resource of an account. */
export interface Publisher {
  readonly service: string;
  readonly sourceAccount: string;
  /** Whether it publishes over TLS, as services of AWS do. */
  readonly secure: boolean;
}

interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Principal: '*' | { readonly AWS?: string; readonly Service?: string | readonly string[] };
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * Whether SNS lets a service publish to the topic of a template. An attached policy replaces the default one, which allows the owner's
 * account and with it the alarms of CloudWatch: anything that it does not allow is refused, and an alarm that may not publish records so
 * only in its history.
 * https://repost.aws/knowledge-center/cloudwatch-receive-sns-for-alarm-trigger
 * https://docs.aws.amazon.com/sns/latest/dg/sns-access-policy-use-cases.html
 */
export function mayPublish(template: Template, publisher: Publisher): boolean {
  const policies = resources(template, 'AWS::SNS::TopicPolicy');
  // Only principals of the owner's account are in the default policy's condition (AWS:SourceOwner).
  if (policies.length === 0) return publisher.service === 'cloudwatch.amazonaws.com';
  const statements = policies.flatMap(
    ([, { Properties }]) => (Properties['PolicyDocument'] as { Statement: readonly Statement[] }).Statement,
  );
  const applying = statements.filter((statement) => applies(statement, publisher)).map(({ Effect }) => Effect);
  return applying.includes('Allow') && !applying.includes('Deny');
}

function applies({ Action, Principal, Condition = {} }: Statement, publisher: Publisher): boolean {
  const isAction = [Action].flat().some((action) => /^sns:(publish|\*)$/i.test(action));
  const isPrincipal =
    Principal === '*' || Principal.AWS === '*' || [Principal.Service ?? []].flat().includes(publisher.service);
  return isAction && isPrincipal && Object.entries(Condition).every((condition) => holds(condition, publisher));
}

/** @throws Error for an unknown condition, which must not be taken to hold */
function holds([operator, keys]: [string, Readonly<Record<string, string>>], publisher: Publisher): boolean {
  return Object.entries(keys).every(([key, wanted]) => {
    if (operator === 'Bool' && key === 'aws:SecureTransport') return wanted === String(publisher.secure);
    if (operator === 'StringEquals' && key === 'aws:SourceAccount') return wanted === publisher.sourceAccount;
    throw new Error(`a condition that this knows nothing of: ${operator} ${key}`);
  });
}
