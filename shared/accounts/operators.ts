import { createHash } from 'node:crypto';
import { AccountRefusal, checkName } from '../access/account-names.ts';
import type { Clock } from '../ports/clock.ts';
import { hour } from '../ports/durations.ts';
import type { Attributes, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { writeToken } from '../storage/table/keys/ids.ts';
import { accountKey } from '../storage/table/keys/account-keys.ts';
import { bestEffort } from '../storage/table/settled.ts';
import { everyItem, removed, revised } from './account-items.ts';
import type { Administration } from './administration.ts';

/**
 * What an operator may do over HTTP: `read` what shows no secret, read the `bill`, or `manage`, which includes both.
 */
export const scopes = ['read', 'bill', 'manage'] as const;

export type Scope = (typeof scopes)[number];

/** Someone, or a program, that administers the service over HTTP. */
export interface OperatorRecord {
  readonly operator: string;
  readonly scopes: readonly Scope[];
  readonly created: number;
  /** The time at which the token expires; undefined: it does not. */
  readonly until: number | undefined;
  /** The time of the last use, to the hour; undefined: none. */
  readonly used: number | undefined;
}

/** A new operator. The token is shown only once. */
export interface NewOperator extends OperatorRecord {
  readonly token: string;
}

/** So that a token is found by people who scan for leaked ones. */
const tokenPrefix = 'stillage_';
const tokenBytes = 32;
const tokenPattern = /^stillage_[\w-]{43}$/;
/** The least milliseconds between two times of use that are written down. */
const usePrecision = hour;

/** The operators of the service, and their tokens, of which only hashes are kept. */
export class Operators {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;

  readonly #accounts: Administration;

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness }, accounts: Administration) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#accounts = accounts;
  }

  /** Returns all operators, sorted by name. */
  async all(): Promise<readonly OperatorRecord[]> {
    const items = await everyItem(this.#table, accountKey.operator('').pk);
    return items.map(({ key, attributes }) => decode(key.sk, attributes));
  }

  /**
   * Makes an operator with a token of 256 random bits.
   * @param lifetime milliseconds until the token expires. Default: it does not
   * @throws AccountRefusal if the name is not valid or taken
   */
  async create(name: string, granted: readonly Scope[], lifetime?: number): Promise<NewOperator> {
    const created = this.#clock.now();
    const token = tokenPrefix + Buffer.from(this.#randomness.bytes(tokenBytes)).toString('base64url');
    const hash = hashOf(token);
    const put = {
      ...{ hash, created, scopes: scopes.filter((scope) => granted.includes(scope)) },
      ...(lifetime !== undefined && { until: created + lifetime }),
      r: writeToken(this.#randomness),
    };
    await this.#accounts.create(`the operator ${name}`, [
      { key: accountKey.operator(checkName('operator', name)), put, expect: { is: 'absent' } },
      { key: accountKey.operatorsToken(hash), put: { operator: name } },
    ]);
    return { ...decode(name, put), token };
  }

  /** Removes an operator: the token is refused from the next request. @throws AccountRefusal if there is none of this name */
  async remove(name: string): Promise<void> {
    const key = accountKey.operator(name);
    await this.#accounts.repeat(async () => {
      const item = await this.#table.get(key);
      if (item === undefined) throw new AccountRefusal(`there is no operator ${JSON.stringify(name)}`);
      return [removed(key, item), { key: accountKey.operatorsToken(item['hash'] as string), delete: true }];
    });
  }

  /** Returns the operator of a token that is valid now, and writes down that it was used. */
  async authenticate(token: string): Promise<OperatorRecord | undefined> {
    if (!tokenPattern.test(token)) return undefined;
    const hash = hashOf(token);
    const name = (await this.#table.get(accountKey.operatorsToken(hash)))?.['operator'] as string | undefined;
    if (name === undefined) return undefined;
    const key = accountKey.operator(name);
    const item = await this.#table.get(key);
    // A newer one of that name has another token.
    if (item === undefined || item['hash'] !== hash) return undefined;
    const operator = decode(name, item);
    const now = this.#clock.now();
    if (operator.until !== undefined && operator.until <= now) return undefined;
    if (now - (operator.used ?? 0) >= usePrecision) {
      // Whoever else writes it knows as well.
      await bestEffort(
        this.#table.write([revised(key, item, { ...item, used: now, r: writeToken(this.#randomness) })]),
      );
    }
    return operator;
  }
}

function decode(operator: string, item: Attributes): OperatorRecord {
  return {
    operator,
    scopes: item['scopes'] as readonly Scope[],
    created: item['created'] as number,
    until: item['until'] as number | undefined,
    used: item['used'] as number | undefined,
  };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
