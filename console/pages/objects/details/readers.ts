import { number, t } from '../../../messages/messages.ts';
import { granteeName } from '../../../panels/acl-editor.tsx';
import type { Acl, PublicAccessBlock, PublicLink } from '../../../s3/access.ts';

interface Sources {
  readonly acl: Acl;
  readonly policy: string | undefined;
  readonly block: PublicAccessBlock | undefined;
  readonly links: readonly PublicLink[];
}

interface Statement {
  readonly Effect?: string;
  readonly Principal?: unknown;
  readonly Action?: unknown;
  readonly NotAction?: unknown;
  readonly Resource?: unknown;
  readonly NotResource?: unknown;
}

/** Returns who can read an object, by its ACL, the bucket's policy and settings, and its links: one line for each way. */
export function readersOf({ acl, policy, block, links }: Sources, bucket: string, key: string): string[] {
  const texts = t.value.details;
  const lines = [texts.whoBucketOwner, texts.whoOwner(acl.owner.name || acl.owner.id)];
  for (const { grantee, permission } of acl.grants) {
    if (permission !== 'READ' && permission !== 'FULL_CONTROL') continue;
    if (grantee.kind === 'id' && grantee.id === acl.owner.id) continue;
    if (grantee.kind === 'everybody') lines.push(texts.whoEverybodyAcl);
    else if (grantee.kind === 'signed-in') lines.push(texts.whoSignedInAcl);
    else lines.push(texts.whoGrantee(granteeName(grantee)));
  }
  if (block?.ignorePublicAcls === true) lines.push(texts.whoIgnored);
  const matching = statementsOf(policy).filter((statement) => concerns(statement, bucket, key));
  for (const { Effect, Principal } of matching) {
    if (Effect !== 'Allow') continue;
    const names = principalsOf(Principal);
    lines.push(names.includes('*') ? texts.whoPolicyPublic : texts.whoPolicy(names.join(', ')));
  }
  if (matching.some(({ Effect }) => Effect === 'Deny')) lines.push(texts.whoDeny);
  const live = links.filter(({ expires }) => expires.getTime() > Date.now());
  if (live.length > 0) lines.push(texts.whoLinks(number(live.length)));
  return [...new Set(lines)];
}

function statementsOf(policy: string | undefined): Statement[] {
  if (policy === undefined) return [];
  try {
    const { Statement: statements } = JSON.parse(policy) as { readonly Statement?: Statement | Statement[] };
    return statements === undefined ? [] : Array.isArray(statements) ? statements : [statements];
  } catch {
    return [];
  }
}

/** Returns whether a statement covers reading this object. */
function concerns(statement: Statement, bucket: string, key: string): boolean {
  const matches = (patterns: unknown, text: string, fold: boolean): boolean =>
    textsOf(patterns).some((pattern) =>
      matchesPattern(fold ? pattern.toLowerCase() : pattern, fold ? text.toLowerCase() : text),
    );
  const action = (patterns: unknown): boolean =>
    matches(patterns, 's3:GetObject', true) || matches(patterns, 'svc:GetObject', true);
  const resource = (patterns: unknown): boolean =>
    ['arn:aws:s3:::', 'arn:svc:svc:::', 'arn:aws:svc:::'].some((arn) =>
      matches(patterns, `${arn}${bucket}/${key}`, false),
    );
  const isAction = statement.Action === undefined ? !action(statement.NotAction) : action(statement.Action);
  const isResource = statement.Resource === undefined ? !resource(statement.NotResource) : resource(statement.Resource);
  return isAction && isResource;
}

const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');

function principalsOf(principal: unknown): string[] {
  if (principal === '*') return ['*'];
  if (typeof principal !== 'object' || principal === null) return [];
  return Object.values(principal).flatMap(textsOf);
}

/** Matches `*` and `?`, without going back further than the last `*`. */
function matchesPattern(pattern: string, text: string): boolean {
  let [at, from, star, mark] = [0, 0, -1, 0];
  while (at < text.length) {
    const wanted = pattern[from];
    if (wanted === '*') {
      star = from++;
      mark = at;
    } else if (wanted === '?' || (wanted !== undefined && wanted === text[at])) {
      from++;
      at++;
    } else if (star >= 0) {
      from = star + 1;
      at = ++mark;
    } else return false;
  }
  while (pattern[from] === '*') from++;
  return from === pattern.length;
}
