import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Fields } from '../../../shared/http/message.ts';
import { second } from '../../../shared/ports/durations.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';

/** The minimum length of the token in characters. A shorter one could be guessed. */
const minimumLength = 16;
/** The time in milliseconds for which the content of the file is cached. */
const goodFor = 2 * second;

/** The bearer token in a file, which requests read again: a new token needs no restart. */
export class MetricsToken {
  readonly #file: string;
  #token: string | undefined;
  #readAt = 0;

  private constructor(file: string) {
    this.#file = file;
  }

  /** @throws OperatorError if the file cannot be read or holds no token */
  static async read(file: string): Promise<MetricsToken> {
    const token = new MetricsToken(file);
    token.#token = await readToken(file);
    token.#readAt = Date.now();
    return token;
  }

  /** Returns true if a request has the token: https://www.rfc-editor.org/rfc/rfc6750#section-2.1 */
  async admits(fields: Fields): Promise<boolean> {
    const sent = /^bearer +([\x21-\x7e]+)$/i.exec(fields.get('authorization') ?? '')?.[1];
    if (sent === undefined) return false;
    if (Math.abs(Date.now() - this.#readAt) > goodFor) {
      this.#readAt = Date.now();
      // Without a token in the file, every request is refused.
      this.#token = await readToken(this.#file).catch(() => undefined);
    }
    return this.#token !== undefined && timingSafeEqual(digest(sent), digest(this.#token));
  }
}

async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new OperatorError(`--metrics-token-file: cannot read ${file}: ${(cause as Error).message}`);
  });
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= minimumLength) return token;
  throw new OperatorError(
    `--metrics-token-file: ${file} must hold one token of at least ${minimumLength} characters without blanks; make one with: openssl rand -hex 32`,
  );
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
