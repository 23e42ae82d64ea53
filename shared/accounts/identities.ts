import type { Account } from '../access/identity.ts';
import type { Clock } from '../ports/clock.ts';
import type { KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Authorisation } from '../storage/buckets/authorisation.ts';
import { accountKey } from '../storage/table/keys/account-keys.ts';
import { writeToken } from '../storage/table/keys/ids.ts';
import { identityLayout, requireLayout } from '../storage/table/layout.ts';
import { conflict, optimistically, slowDown } from '../storage/table/optimistic-write.ts';
import { decodeProject, revised, userId, userIdBytes } from './account-items.ts';
import { Directory } from './directory.ts';
import { randomKeyId, randomSecret } from './key-administration.ts';

/** The users, groups, policies and roles of accounts, as IAM administers them. */
export class Identities {
  readonly #deps: { readonly table: KeyValueTable; readonly randomness: Randomness };
  readonly #secrets: Secrets;
  readonly #clock: Clock;

  constructor(deps: { table: KeyValueTable; secrets: Secrets; randomness: Randomness; clock: Clock }) {
    this.#deps = deps;
    this.#secrets = deps.secrets;
    this.#clock = deps.clock;
  }

  /** Returns the directory of an account, for reading. */
  read(account: Account): Directory {
    return new Directory(this.#deps.table, account, () => this.#token());
  }

  /**
   * Changes what is in an account. Each change gives the project's item another write token, on condition that it is as it was read. So
   * the changes of an account follow one another, each sees the one before, and all processes notice. The caller has confirmed rights
   * when `act` is called, and a commit hangs on what these depend on, in every deployment: such changes are rare.
   * @param act asks whether the caller may, and states the changes; called again if somebody else was faster
   * @throws S3Error SlowDown, and as {@link Authorisation.confirmCaller}
   */
  async change<Result>(
    authorisation: Authorisation,
    account: Account,
    act: (directory: Directory) => Promise<Result>,
  ): Promise<Result> {
    const { table } = this.#deps;
    const key = accountKey.project(account.id);
    return optimistically(async () => {
      const before = await table.get(key);
      if (before === undefined) return conflict;
      const caller = await authorisation.confirmCaller();
      const { accountNumber } = account;
      const directory = this.read({ ...decodeProject(account.id, before), accountNumber });
      const result = await act(directory);
      if (directory.changes.length === 0) return result;
      // Earlier versions give every user full access.
      await requireLayout(this.#deps, identityLayout);
      const bump = revised(key, before, { ...before, r: this.#token() });
      const { outcome } = await table.write([...directory.changes, bump], caller);
      if (outcome === 'unknown') throw new Error('the table did not tell whether it wrote');
      return outcome === 'written' ? result : conflict;
    }, slowDown);
  }

  /** Returns a new unique id. @param prefix 3 letters that tell of what */
  newId(prefix: string): string {
    return userId(this.#deps.randomness.bytes(userIdBytes), prefix);
  }

  /** Returns a new access key, and its item. */
  async newKey(account: Account, user: string) {
    const id = randomKeyId(this.#deps.randomness);
    const secretAccessKey = randomSecret(this.#deps.randomness);
    const secret = await this.#secrets.seal(Buffer.from(secretAccessKey), id);
    return { id, secretAccessKey, item: { project: account.id, user, secret, created: this.#clock.now() } };
  }

  #token(): string {
    return writeToken(this.#deps.randomness);
  }
}
