import type { ResponseMessage } from '../http/message.ts';

/**
 * Checks a response body against its Content-Length. On a connection that is used again, a client would take the next response for
 * the rest of a body that is too short, and surplus bytes for the next response.
 */
export class AnnouncedLength {
  /** Undefined: any length is allowed. */
  readonly #announced: number | undefined;
  #counted = 0;

  /**
   * @param method the method of the request
   * @param answer the response to count. Without a body (HEAD, 204, 304), Content-Length refers to another response
   */
  constructor(method: string, { status, fields }: Pick<ResponseMessage, 'status' | 'fields'>) {
    const isBodiless = method === 'HEAD' || status === 204 || status === 304;
    const value = fields.get('content-length');
    this.#announced = isBodiless || value === undefined ? undefined : Number(value);
  }

  /** Counts bytes before they are sent. @throws WrongLength if they exceed the announced length */
  count(bytes: number): void {
    this.#counted += bytes;
    if (this.#announced !== undefined && !(this.#counted <= this.#announced)) this.#refuse('at least ');
  }

  /** Checks the length before the response ends. @throws WrongLength if bytes are missing */
  end(): void {
    if (this.#announced !== undefined && this.#counted !== this.#announced) this.#refuse('');
  }

  #refuse(extent: string): never {
    throw new WrongLength(`a response has ${extent}${this.#counted} bytes, but announced ${this.#announced}`);
  }
}

/** A response has another length than announced: its connection must not be used again. */
export class WrongLength extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WrongLength';
  }
}
