import { unknownAddress } from '../http/message.ts';
import type { Caller } from './identity.ts';
import { runPaced, type Pace } from './pace.ts';
import { policyActions } from './policy-actions.ts';
import type { Condition } from './policy-conditions.ts';
import type { Policy, Statement } from './policy-document.ts';
import { isAbout } from './policy-principals.ts';
import {
  fillTemplates,
  variablesOf,
  type Facts,
  type KnownFacts,
  type Template,
  type Values,
} from './policy-template.ts';
import { codePoints, PatternSet, type Pattern } from './wildcard.ts';

/** An action to evaluate a policy for. */
export interface PolicyQuestion {
  /** Without its namespace: `GetObject`. */
  readonly action: string;
  /** Required if the action is about an object. */
  readonly key?: string;
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
  readonly #bucket: string;
  readonly #pace: Pace;
  /** The statements that apply to the caller. */
  readonly #statements: Readonly<Record<Statement['effect'], readonly Statement[]>>;
  readonly #resources = new Map<Statement, ResourcePatterns>();
  readonly #conditions = new Map<Condition, KnownCondition>();

  /** @param pace counts the steps of all questions and pauses between them */
  constructor(policy: Policy, { caller, bucket, pace }: { caller: Caller; bucket: string; pace: Pace }) {
    const statements = policy.statements.filter(({ principals }) => isAbout(principals, caller));
    this.#statements = {
      Deny: statements.filter(({ effect }) => effect === 'Deny'),
      Allow: statements.filter(({ effect }) => effect === 'Allow'),
    };
    this.#bucket = bucket;
    this.#pace = pace;
  }

  /**
   * Evaluates the policy: `deny` if any statement denies, else `allow` if any allows, else `none`.
   * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
   */
  async verdict(question: PolicyQuestion): Promise<'allow' | 'deny' | 'none'> {
    const resource = codePoints(this.#resourceOf(question));
    await this.#pace.take(stepsPerQuestion + stepsPerCharacter * resource.length);
    for (const effect of ['Deny', 'Allow'] as const) {
      for (const statement of this.#statements[effect]) {
        const turn = this.#pace.take(stepsPerStatement);
        if (turn) await turn;
        if (!(await this.#matches(statement, resource, question))) continue;
        return effect === 'Deny' ? 'deny' : 'allow';
      }
    }
    return 'none';
  }

  /** Bucket actions never match the resources in the bucket, nor object actions the bucket. */
  #resourceOf({ action, key }: PolicyQuestion): string {
    return policyActions.get(action) === 'object' ? `${this.#bucket}/${key ?? ''}` : this.#bucket;
  }

  async #matches(statement: Statement, resource: Pattern, question: PolicyQuestion): Promise<boolean> {
    if (!statement.actions.has(question.action)) return false;
    if ((await this.#matchesResource(statement, resource, question.conditions)) === statement.otherResources) {
      return false;
    }
    for (const condition of statement.conditions) {
      if (!(await this.#isMet(condition, question.conditions, statement.effect))) return false;
    }
    return true;
  }

  async #matchesResource(statement: Statement, resource: Pattern, facts: Facts): Promise<boolean> {
    const patterns = this.#resources.get(statement) ?? new ResourcePatterns(statement.resources);
    this.#resources.set(statement, patterns);
    const filled = await patterns.filled(facts, resource.length, this.#pace);
    return (await runPaced(filled.matching(resource), this.#pace)).size > 0;
  }

  async #isMet(condition: Condition, facts: Facts, effect: Statement['effect']): Promise<boolean> {
    const turn = this.#pace.take(stepsPerStatement);
    if (turn) await turn;
    const values = await facts(condition.key);
    // Nothing is allowed for an address that is not known, and what is denied to all but some addresses is denied to it.
    if (condition.key === 'aws:sourceip' && values?.[0] === unknownAddress) {
      return effect === 'Deny' && condition.negated;
    }
    const isAbsent = values === undefined || values.length === 0;
    const variables = await factsOf(isAbsent ? [] : condition.variables, facts);
    const known = this.#conditions.get(condition);
    if (known && isSame(known.values, values) && areSame(known.variables, variables)) return known.isMet;
    const isMet = condition.isMet(values, variables, this.#pace);
    this.#conditions.set(condition, { values, variables, isMet });
    return isMet;
  }
}

/** The approximate cost of examining a question, and a statement or a condition. */
const stepsPerQuestion = 2000;
const stepsPerCharacter = 4;
const stepsPerStatement = 200;

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
  readonly #templates: readonly Template[];
  readonly #variables: readonly string[];
  #known: { readonly facts: KnownFacts; readonly longest: number; readonly patterns: PatternSet } | undefined;

  constructor(templates: readonly Template[]) {
    this.#templates = templates;
    this.#variables = variablesOf(templates);
  }

  /** @param length of the text to match, in characters */
  async filled(facts: Facts, length: number, pace: Pace): Promise<PatternSet> {
    const values = await factsOf(this.#variables, facts);
    const known = this.#known;
    if (known && length <= known.longest && areSame(known.facts, values)) return known.patterns;
    const longest = Math.max(length, usualLength);
    const patterns = new PatternSet(await runPaced(fillTemplates(this.#templates, values, longest), pace));
    this.#known = { facts: values, longest, patterns };
    return patterns;
  }
}

async function factsOf(keys: readonly string[], facts: Facts): Promise<KnownFacts> {
  const known = new Map<string, Values>();
  for (const key of keys) known.set(key, await facts(key));
  return known;
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
