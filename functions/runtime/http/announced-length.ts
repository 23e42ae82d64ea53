import type { ResponseMessage } from '../../../shared/http/message.ts';

/**
 * Counts the body of an answer against the Content-Length that was announced for it. A client takes whatever comes next for the rest of a
 * body that is too short, and what is too much for the next answer: so neither may happen on a connection that is used again.
 */
export class AnnouncedLength {
  /** Undefined: any length is right. */
  readonly #announced: number | undefined;
  #counted = 0;

  /**
   * @param method of the request
   * @param answer whose body is counted. Where there is none to be sent (HEAD, 204, 304), its length is that of another answer
   */
  constructor(method: string, { status, fields }: Pick<ResponseMessage, 'status' | 'fields'>) {
    const isBodiless = method === 'HEAD' || status === 204 || status === 304;
    const value = fields.get('content-length');
    this.#announced = isBodiless || value === undefined ? undefined : Number(value);
  }

  /** To be called before so many more bytes are sent. @throws WrongLength if they must not be */
  count(bytes: number): void {
    this.#counted += bytes;
    if (this.#announced !== undefined && !(this.#counted <= this.#announced)) this.#refuse('at least ');
  }

  /** To be called before the answer is ended. @throws WrongLength if bytes are missing */
  end(): void {
    if (this.#announced !== undefined && this.#counted !== this.#announced) this.#refuse('');
  }

  #refuse(extent: string): never {
    throw new WrongLength(`an answer has ${extent}${this.#counted} bytes, and announced ${this.#announced}`);
  }
}

/** An answer is not as long as it announced: whatever carries it must not be used for another one. */
export class WrongLength extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WrongLength';
  }
}
