import { unknownAddress } from '../../http/message.ts';
import type { EventLoopBudget } from '../../ports/event-loop.ts';
import type { Caller } from '../identity.ts';
import { keysOfAccounts } from '../policy-keys.ts';
import { levelOf } from './policy-actions.ts';
import type { Condition } from './policy-conditions.ts';
import type { Policy, TrustPolicy } from './policy-document.ts';
import type { Rule } from './policy-rule.ts';
import { isAbout, isNamed } from './policy-principals.ts';
import {
  fillTemplates,
  variablesOf,
  type Facts,
  type KnownFacts,
  type Template,
  type Values,
} from './policy-template.ts';
import { comparisonsPerStep, codePoints, PatternSet, type Pattern } from './wildcard.ts';

/** An action to evaluate a policy for. */
export interface PolicyQuestion {
  /** Without its namespace, if it is of S3 or Stillage's own: `GetObject`. */
  readonly action: string;
  /** As the policy names it: `bucket/key` or an ARN. */
  readonly resource: string;
  /**
   * Returns a condition key's values. Keys are lower case: `aws:sourceip`, `s3:existingobjecttag/Team`. Called only if
   * everything else in a statement matches, so it may be costly.
   */
  readonly conditions: Facts;
}

/**
 * A policy prepared for one request, which may ask about a thousand keys. Everything that does not depend on the key is
 * computed once: the statements that apply to the caller, and each condition as long as its values stay the same.
 */
export class PreparedPolicy {
  readonly #budget: EventLoopBudget;
  readonly #rules: Readonly<Record<Rule['effect'], readonly Rule[]>>;
  readonly #resources = new Map<Rule, ResourcePatterns>();
  readonly #conditions = new Map<Condition, KnownCondition>();

  /**
   * @param rules those that apply to the caller
   * @param budget of all questions
   */
  constructor(rules: readonly Rule[], budget: EventLoopBudget) {
    this.#rules = {
      Deny: rules.filter(({ effect }) => effect === 'Deny'),
      Allow: rules.filter(({ effect }) => effect === 'Allow'),
    };
    this.#budget = budget;
  }

  /**
   * Evaluates the policy: `deny` if any statement denies, else `allow` if any allows, else `none`.
   * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
   */
  async verdict(question: PolicyQuestion): Promise<'allow' | 'deny' | 'none'> {
    const resource = codePoints(question.resource);
    await this.#budget.spend(stepsPerQuestion + (4 * resource.length) / comparisonsPerStep);
    for (const effect of ['Deny', 'Allow'] as const) {
      for (const statement of this.#rules[effect]) {
        const turn = this.#budget.spend(stepsPerStatement);
        if (turn) await turn;
        if (!(await this.#matches(statement, resource, question))) continue;
        return effect === 'Deny' ? 'deny' : 'allow';
      }
    }
    return 'none';
  }

  async #matches(statement: Rule, resource: Pattern, question: PolicyQuestion): Promise<boolean> {
    if (!statement.actions.has(question.action)) return false;
    if (!(await this.#matchesResource(statement, resource, question.conditions))) return false;
    for (const condition of statement.conditions) {
      if (!(await this.#isMet(condition, question.conditions, statement.effect))) return false;
    }
    return true;
  }

  async #matchesResource(statement: Rule, resource: Pattern, facts: Facts): Promise<boolean> {
    const patterns = this.#resources.get(statement) ?? new ResourcePatterns(statement.resources);
    this.#resources.set(statement, patterns);
    const variables = await factsOf(patterns.variables, facts);
    if (statement.otherResources && statement.effect === 'Allow' && hasUnknown(variables)) return false;
    const filled = await patterns.filled(variables, resource.length, this.#budget);
    const isListed = (await this.#budget.run(filled.matching(resource))).size > 0;
    return isListed !== statement.otherResources;
  }

  async #isMet(condition: Condition, facts: Facts, effect: Rule['effect']): Promise<boolean> {
    const turn = this.#budget.spend(stepsPerStatement);
    if (turn) await turn;
    const values = await factOf(condition.key, facts);
    const isAbsent = values !== unknown && (values === undefined || values.length === 0);
    const variables = await factsOf(isAbsent ? [] : condition.variables, facts);
    if (values === unknown || hasUnknown(variables)) return effect === 'Deny' && condition.negated;
    const known = this.#conditions.get(condition);
    if (known && isSame(known.values, values) && areSame(known.variables, variables)) return known.isMet;
    const isMet = condition.isMet(values, variables, this.#budget);
    this.#conditions.set(condition, { values, variables, isMet });
    return isMet;
  }
}

/** Which statements of a bucket's policy may allow something: all, or those alone that name the user, in a bucket of the user's project. */
export type Grants = 'all' | 'to the user';

/**
 * Returns the statements of a bucket's policy that apply to a caller. Of the owner's own users, those whose policies allow nothing are
 * allowed it by statements that name them, or everybody: to name their project is to leave it to its policies.
 * @param owner of the bucket, by canonical id
 */
export function rulesFor(
  { statements }: Policy,
  caller: Caller,
  owner: string,
  grants: Grants = 'all',
): readonly Rule[] {
  const insider = caller.kind === 'user' && caller.project.id === owner ? caller : undefined;
  return statements.filter(({ effect, principals }) => {
    if (insider === undefined || effect === 'Deny') return isAbout(principals, caller, effect);
    return isNamed(principals, insider) || (grants === 'all' && principals === 'everybody');
  });
}

/** Returns the statements of a trust policy that apply to a caller. @param grants `to the user`: those that allow it to the caller by name alone */
export function rulesOfTrust({ statements }: TrustPolicy, caller: Caller, grants: Grants): readonly Rule[] {
  return statements.filter(({ effect, principals }) =>
    effect === 'Deny' || grants === 'all'
      ? isAbout(principals, caller, effect)
      : caller.kind === 'user' && isNamed(principals, caller),
  );
}

/** Returns the statements of a trust policy that apply to those who have a token of a provider. Only those that name it allow anything. */
export function rulesForProvider({ statements }: TrustPolicy, provider: string): readonly Rule[] {
  return statements.filter(
    ({ effect, principals, providers }) =>
      providers.includes(provider) || (effect === 'Deny' && principals === 'everybody'),
  );
}

/** Returns the resource of a question as the policy of a bucket names it. Bucket actions never match the resources in the bucket, nor object actions the bucket. */
export function resourceOf(action: string, bucket: string, key = ''): string {
  return levelOf(action) === 'object' ? `${bucket}/${key}` : bucket;
}

/** The approximate cost of examining a question, and a statement or a condition. */
const stepsPerQuestion = 8;
const stepsPerStatement = 0.8;

/** A condition's result, and the values it was computed from. */
interface KnownCondition {
  readonly values: Values;
  readonly variables: KnownFacts;
  readonly isMet: Promise<boolean> | boolean;
}

/** Longer than most resources, in characters. */
const usualLength = 1100;

/** The resource patterns of a statement, refilled only when the values of their variables change. */
class ResourcePatterns {
  /** The condition keys that it needs the values of. */
  readonly variables: readonly string[];
  readonly #templates: readonly Template[];
  #known: { readonly facts: KnownFacts; readonly longest: number; readonly patterns: PatternSet } | undefined;

  constructor(templates: readonly Template[]) {
    this.#templates = templates;
    this.variables = variablesOf(templates);
  }

  /** @param length of the text to match, in characters */
  async filled(values: KnownFacts, length: number, budget: EventLoopBudget): Promise<PatternSet> {
    const known = this.#known;
    if (known && length <= known.longest && areSame(known.facts, values)) return known.patterns;
    const longest = Math.max(length, usualLength);
    const patterns = new PatternSet(await budget.run(fillTemplates(this.#templates, values, longest)));
    this.#known = { facts: values, longest, patterns };
    return patterns;
  }
}

/**
 * A value that is there and not known, the address of a client whose proxy reports none that can be read. No pattern has it. Nothing is
 * allowed because of it, nor because it is in no pattern; what is denied to all but some values is denied to it.
 */
const unknown: Values = [];

async function factOf(key: string, facts: Facts): Promise<Values> {
  const values = await facts(key);
  return key === 'aws:sourceip' && values?.[0] === unknownAddress ? unknown : values;
}

async function factsOf(keys: readonly string[], facts: Facts): Promise<KnownFacts> {
  const known = new Map<string, Values>();
  for (const key of keys) {
    const values = await factOf(key, facts);
    known.set(key, keysOfAccounts.has(key) ? values?.slice(0, 1) : values);
  }
  return known;
}

function hasUnknown(facts: KnownFacts): boolean {
  return [...facts.values()].includes(unknown);
}

function areSame(some: KnownFacts, others: KnownFacts): boolean {
  if (some.size !== others.size) return false;
  for (const [key, values] of some) if (!others.has(key) || !isSame(values, others.get(key))) return false;
  return true;
}

function isSame(some: Values, others: Values): boolean {
  if (some === undefined || others === undefined) return some === others;
  return some.length === others.length && some.every((value, at) => value === others[at]);
}
