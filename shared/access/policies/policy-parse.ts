import { malformedPolicy } from './malformed-policy.ts';
import { atOnce } from '../../ports/event-loop.ts';
import { administrativeActions, ownActions, policyActions, type ActionLevel } from './policy-actions.ts';
import { readConditions } from './policy-conditions.ts';
import { readTrustKey } from '../policy-keys.ts';
import type { NamedPolicy, Statement, TrustPolicy } from './policy-document.ts';
import type { IdentityPolicy, Rule } from './policy-rule.ts';
import { readPrincipals, readTrusted, type NamedPrincipals } from './policy-principals.ts';
import { canBeBucket, canBeObject, readArn, readResource } from './policy-resources.ts';
import { readStrings } from './policy-strings.ts';
import { parseStrictJson, type Json } from './strict-json.ts';
import { codePoints, PatternSet, readWildcards, type Pattern, type Stepwise } from './wildcard.ts';

/** Policies need six levels. */
const maximumDepth = 8;
/**
 * Each variable makes a pattern as long as the client chooses, so their number limits the matching work of a request.
 */
const maximumVariables = 100;

/** The versions of the policy language, and whether they support variables. The default is the older one. */
const versions: ReadonlyMap<Json, boolean> = new Map<Json, boolean>([
  ['2008-10-17', false],
  ['2012-10-17', true],
]);

type Members = ReadonlyMap<string, Json>;

/** The bytes of JSON that are read in a step, the steps of a resource, and the actions that are gone through in a step. */
const bytesPerStep = 8;
const stepsPerResource = 8;
const actionsPerStep = 8;

/** Parses a small bucket policy in one go: see {@link policyParsing}. */
export function parsePolicy(text: Uint8Array, bucket: string): NamedPolicy {
  return atOnce(policyParsing(text, bucket));
}

/**
 * Parses a bucket policy, yielding the steps taken. Rejects anything it does not understand, since an ignored statement could be the one
 * that denies: https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-policy-language-overview.html
 *
 * @param text JSON, UTF-8
 * @throws S3Error MalformedPolicy that says what is wrong
 */
export function* policyParsing(text: Uint8Array, bucket: string): Stepwise<NamedPolicy> {
  return yield* documentParsing(text, (json, variables) => readStatement(json, bucket, variables));
}

/**
 * Parses the policy of an identity, whose statements name no principals. Actions of other services than those here, and resources of theirs, are
 * accepted and match nothing, as policies are brought along: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
 *
 * @param text JSON, UTF-8
 * @throws S3Error MalformedPolicy that says what is wrong
 */
export function* identityPolicyParsing(text: Uint8Array): Stepwise<IdentityPolicy> {
  return yield* documentParsing(text, readRule);
}

/**
 * Parses the small trust policy of a role, in one go. Its statements name no resources, and only the actions by which a role is assumed.
 * @throws S3Error MalformedPolicy that says what is wrong
 */
export function parseTrustPolicy(text: string): TrustPolicy<NamedPrincipals> {
  return atOnce(documentParsing(Buffer.from(text), readTrust));
}

function* documentParsing<Read>(
  text: Uint8Array,
  read: (statement: Json, variables: boolean) => Stepwise<Read>,
): Stepwise<{ readonly statements: readonly Read[] }> {
  const json = parseJson(text);
  yield text.length / bytesPerStep;
  const document = readMembers(json, 'A policy', ['Version', 'Id', 'Statement']);
  const variables = versions.get(document.get('Version') ?? '2008-10-17');
  if (variables === undefined) throw malformedPolicy('The policy must contain a valid version string');
  if (countVariables(json) > maximumVariables) throw malformedPolicy('The policy has too many variables');
  checkText(document, 'Id');
  const statement = document.get('Statement');
  if (statement === undefined) throw malformedPolicy('Missing required field Statement');
  const statements = Array.isArray(statement) ? (statement as readonly Json[]) : [statement];
  if (statements.length === 0) throw malformedPolicy('Statement is empty');
  const found: Read[] = [];
  for (const one of statements) found.push(yield* read(one, variables));
  return { statements: found };
}

function parseJson(text: Uint8Array): Json {
  try {
    return parseStrictJson(text, maximumDepth);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw malformedPolicy('Policies must be valid JSON', cause.message, cause);
  }
}

const ruleElements = ['Sid', 'Effect', 'Action', 'NotAction', 'Resource', 'NotResource', 'Condition'] as const;
const elements = [...ruleElements, 'Principal'] as const;

function* readRule(json: Json, variables: boolean): Stepwise<Rule> {
  const members = readMembers(json, 'A statement', ruleElements);
  const [texts, otherResources] = eitherOf(members, 'Resource');
  const resources = [];
  for (const text of texts) {
    resources.push(readArn(text, variables));
    yield stepsPerResource;
  }
  const [actions, others] = eitherOf(members, 'Action');
  const invalid = actions.find((text) => !actionPattern.test(text));
  if (invalid !== undefined) throw malformedPolicy('Policy has invalid action', invalid);
  const named = new Set((yield* actionsOf(actions, everyAction)).flat());
  return {
    effect: readEffect(members),
    actions: others ? new Set(everyAction.map(([, name]) => name).filter((name) => !named.has(name))) : named,
    resources,
    otherResources,
    conditions: readConditions(members.get('Condition') ?? new Map<string, Json>(), variables),
  };
}

const trustElements = ['Sid', 'Effect', 'Principal', 'Action', 'Condition'] as const;

function* readTrust(json: Json, variables: boolean): Stepwise<TrustPolicy<NamedPrincipals>['statements'][number]> {
  const members = readMembers(json, 'A statement of a trust policy', trustElements);
  const [principal, action] = [members.get('Principal'), members.get('Action')];
  if (principal === undefined) throw malformedPolicy('Missing required field Principal');
  if (action === undefined) throw malformedPolicy('Missing required field Action');
  const texts = readStrings(action, 'Action');
  const found = yield* actionsOf(texts, assuming);
  const invalid = found.findIndex((names, at) => names.length === 0 || !/^sts:/i.test(texts[at]!));
  if (invalid >= 0) throw malformedPolicy('AssumeRole policy may only specify STS AssumeRole actions', texts[invalid]);
  return {
    effect: readEffect(members),
    ...readTrusted(principal),
    actions: new Set(found.flat()),
    resources: [readArn('*', variables)],
    otherResources: false,
    conditions: readConditions(members.get('Condition') ?? new Map<string, Json>(), variables, readTrustKey),
  };
}

function readEffect(members: Members): Rule['effect'] {
  checkText(members, 'Sid');
  const effect = members.get('Effect');
  if (effect !== 'Allow' && effect !== 'Deny') throw malformedPolicy('Effect must be Allow or Deny');
  return effect;
}

function* readStatement(json: Json, bucket: string, variables: boolean): Stepwise<Statement<NamedPrincipals>> {
  const members = readMembers(json, 'A statement', elements);
  const effect = readEffect(members);
  const principal = members.get('Principal');
  if (principal === undefined) throw malformedPolicy('Missing required field Principal');
  const [resource, otherResources] = eitherOf(members, 'Resource');
  const resources = [];
  for (const text of resource) {
    resources.push(readResource(text, bucket, variables));
    yield stepsPerResource;
  }
  const applies = {
    service: false,
    bucket: otherResources || resources.some((one) => canBeBucket(one, bucket)),
    object: otherResources || resources.some((one) => canBeObject(one, bucket)),
  };
  const principals = readPrincipals(principal);
  const actions = yield* readActions(members, applies);
  return {
    effect,
    principals,
    actions,
    resources,
    otherResources,
    conditions: readConditions(members.get('Condition') ?? new Map<string, Json>(), variables),
  };
}

/** Returns the actions of a statement. Each action named must exist and apply to one of the statement's resources. */
function* readActions(
  members: Members,
  applies: Readonly<Record<ActionLevel, boolean>>,
): Stepwise<ReadonlySet<string>> {
  const [texts, others] = eitherOf(members, 'Action');
  const named = yield* actionsOf(texts.map(bucketAction), actionsOfS3);
  const invalid = named.findIndex((found) => found.length === 0);
  if (invalid >= 0) throw malformedPolicy('Policy has invalid action', texts[invalid]);
  const all = new Set<string>();
  for (const actions of named) {
    for (const name of actions) all.add(name);
    yield actions.length / actionsPerStep;
  }
  const meant = others ? [[...policyActions.keys()].filter((name) => !all.has(name))] : named;
  for (const [at, actions] of meant.entries()) {
    yield actions.length / actionsPerStep;
    if (actions.some((name) => applies[policyActions.get(name)!])) continue;
    throw malformedPolicy('Action does not apply to any resource(s) in statement', others ? undefined : texts[at]);
  }
  return others ? new Set(meant[0]) : all;
}

/** The names of actions as policies match them, in lower case, and as they are known here. */
type Vocabulary = readonly (readonly [folded: Pattern, name: string])[];

/** Returns the actions of a vocabulary that each text matches, such as `s3:Get*`, case-insensitively. */
function* actionsOf(texts: readonly string[], vocabulary: Vocabulary): Stepwise<readonly (readonly string[])[]> {
  const found = texts.map((): string[] => []);
  // Together, since there may be thousands.
  const patterns = new PatternSet(texts.map((text) => readWildcards(text.toLowerCase().replace(/^svc:/, 's3:'))));
  for (const [folded, action] of vocabulary) {
    const places = yield* patterns.matching(folded);
    for (const place of places) found[place]!.push(action);
    yield places.size / actionsPerStep;
  }
  return found;
}

/** Returns an action of a bucket's policy, or an empty string, which matches none, if it is malformed. */
function bucketAction(text: string): string {
  return text === '*' || /^(?:s3|svc):/i.test(text) ? text : '';
}

/** An action of any service, or a pattern of some. */
const actionPattern = /^(?:\*|[\w*?-]+:[\w*?-]+)$/;

const actionsOfS3 = vocabularyOf('s3:', policyActions.keys());
const everyAction = [
  ...actionsOfS3,
  ...vocabularyOf('stillage:', Object.keys(ownActions)),
  ...vocabularyOf('', administrativeActions),
];

/** The actions by which a role is assumed, with what goes along with it. */
const assuming = vocabularyOf(
  '',
  administrativeActions.filter((name) => /^sts:(?:AssumeRole|TagSession|SetSource)/.test(name)),
);

function vocabularyOf(namespace: string, names: Iterable<string>): Vocabulary {
  return Array.from(names, (name) => [codePoints((namespace + name).toLowerCase()), name] as const);
}

/** Returns the strings of the element or its negation (`NotAction`, `NotResource`), and whether it is the negation. */
function eitherOf(members: Members, element: 'Action' | 'Resource'): readonly [readonly string[], boolean] {
  const [one, other] = [members.get(element), members.get(`Not${element}`)];
  if (one !== undefined && other === undefined) return [readStrings(one, element), false];
  if (other !== undefined && one === undefined) return [readStrings(other, `Not${element}`), true];
  throw malformedPolicy(`A statement must have ${element} or Not${element}, and not both`);
}

function readMembers(json: Json, what: string, known: readonly string[]): Members {
  if (!(json instanceof Map)) throw malformedPolicy(`${what} must be a JSON object`);
  const members = json as Members;
  const unknown = [...members.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) throw malformedPolicy('Unknown field', unknown);
  return members;
}

function checkText(members: Members, name: string): void {
  const value = members.get(name);
  if (value !== undefined && typeof value !== 'string') throw malformedPolicy(`${name} must be a string`);
}

function countVariables(json: Json): number {
  if (typeof json === 'string') return json.split('${').length - 1;
  if (json === null || typeof json !== 'object') return 0;
  let count = 0;
  for (const one of json.values()) count += countVariables(one);
  return count;
}
