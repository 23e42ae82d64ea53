import { t } from '../../messages/messages.ts';

type Json = Readonly<Record<string, unknown>>;

const arn = (bucket: string): string => `arn:aws:s3:::${bucket}`;

/** Ready-made statements for a bucket's policy. */
export const statements = {
  publicRead: (bucket: string): Json => ({
    Sid: 'PublicRead',
    Effect: 'Allow',
    Principal: '*',
    Action: ['s3:GetObject'],
    Resource: [`${arn(bucket)}/*`],
  }),
  publicList: (bucket: string): Json => ({
    Sid: 'PublicList',
    Effect: 'Allow',
    Principal: '*',
    Action: ['s3:ListBucket'],
    Resource: [arn(bucket)],
  }),
  project: (bucket: string): Json => ({
    Sid: 'Project',
    Effect: 'Allow',
    Principal: { AWS: ['arn:aws:iam::PROJECT-ID:root'] },
    Action: ['s3:ListBucket', 's3:GetObject', 's3:PutObject', 's3:DeleteObject'],
    Resource: [arn(bucket), `${arn(bucket)}/*`],
  }),
  denyInsecure: (bucket: string): Json => ({
    Sid: 'OnlyHttps',
    Effect: 'Deny',
    Principal: '*',
    Action: ['s3:*'],
    Resource: [arn(bucket), `${arn(bucket)}/*`],
    Condition: { Bool: { 'aws:SecureTransport': 'false' } },
  }),
} as const;

export type StatementName = keyof typeof statements;

const read = (text: string): Json => JSON.parse(text) as Json;

const statementsOf = (policy: Json): readonly Json[] => {
  const { Statement: list } = policy;
  return (Array.isArray(list) ? list : list === undefined ? [] : [list]) as readonly Json[];
};

/** Adds a statement to the text of a policy. If the text is empty or invalid, begins a new policy. */
export function addStatement(text: string, statement: Json): string {
  let policy: Json = { Version: '2012-10-17' };
  try {
    policy = read(text);
  } catch {
    // Nothing is there yet.
  }
  return JSON.stringify({ ...policy, Statement: [...statementsOf(policy), statement] }, null, 2);
}

/** Returns the errors in a policy that can be found here. The service decides. */
export function checkPolicy(text: string, bucket: string): string | undefined {
  const faults = t.value.policyFaults;
  let policy: Json;
  try {
    policy = read(text);
  } catch (error) {
    return faults.json((error as Error).message);
  }
  if (typeof policy !== 'object' || policy === null || Array.isArray(policy)) return faults.object;
  const list = statementsOf(policy);
  if (list.length === 0) return faults.noStatement;
  for (const [index, statement] of list.entries()) {
    const at = index + 1;
    if (typeof statement !== 'object' || statement === null) return faults.object;
    if (statement['Effect'] !== 'Allow' && statement['Effect'] !== 'Deny') return faults.effect(at);
    if (statement['Principal'] === undefined) return faults.principal(at);
    if (statement['Action'] === undefined && statement['NotAction'] === undefined) return faults.action(at);
    const resources = statement['Resource'] ?? statement['NotResource'];
    if (resources === undefined) return faults.resource(at);
    const isOther = (resource: unknown): boolean =>
      typeof resource !== 'string' || !/^arn:(aws:s3|svc:svc|aws:svc):::/.test(resource) || !isOf(resource, bucket);
    if ([resources].flat().some(isOther)) return faults.otherResource(at, bucket);
  }
  return undefined;
}

function isOf(resource: string, bucket: string): boolean {
  const name = resource.slice(resource.indexOf(':::') + 3).split('/')[0]!;
  return name === bucket || name.includes('*') || name.includes('?');
}

/** Returns whether a policy grants access to everybody, conditions aside. */
export function isPublicPolicy(text: string): boolean {
  const isEverybody = (principal: unknown): boolean =>
    principal === '*' ||
    (typeof principal === 'object' && principal !== null && [(principal as Json)['AWS']].flat().includes('*'));
  return statementsOf(read(text)).some(({ Effect, Principal }) => Effect === 'Allow' && isEverybody(Principal));
}
