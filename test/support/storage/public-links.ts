import { expect } from 'vitest';
import { textOf, textsOf } from '../clients/expect-error.ts';
import { exchange, type RawResponse } from '../clients/raw-client.ts';
import type { ServiceUnderTest } from '../programs/service-under-test.ts';
import { anonymous, pathOf, queryOf, type Signing } from '../clients/signer.ts';

/** A link as its owner gets it. */
export interface MadeLink {
  readonly id: string;
  readonly url: string;
  readonly created: number;
  readonly expires: number;
}

type Parameters = Readonly<Record<string, string>>;
type Headers = Readonly<Record<string, string>>;

/** A client of public links. */
export class PublicLinkClient {
  readonly #service: Pick<ServiceUnderTest, 'send' | 'url' | 'host'>;

  constructor(service: Pick<ServiceUnderTest, 'send' | 'url' | 'host'>) {
    this.#service = service;
  }

  create(bucket: string, key: string, parameters: Parameters = {}, signing?: Partial<Signing>): Promise<RawResponse> {
    return this.#ask('POST', bucket, key, parameters, signing);
  }

  async made(bucket: string, key: string, parameters: Parameters = {}, signing?: Partial<Signing>): Promise<MadeLink> {
    const { status, text } = await this.create(bucket, key, parameters, signing);
    expect(status, text).toBe(201);
    const time = (name: string): number => Date.parse(textOf(text, name)!);
    return { id: textOf(text, 'Id')!, url: textOf(text, 'Url')!, created: time('Created'), expires: time('Expires') };
  }

  list(bucket: string, key: string, parameters: Parameters = {}, signing?: Partial<Signing>): Promise<RawResponse> {
    return this.#ask('GET', bucket, key, parameters, signing);
  }

  /** The ids of the links that are listed. */
  async ids(bucket: string, key: string, parameters: Parameters = {}, signing?: Partial<Signing>): Promise<string[]> {
    const { status, text } = await this.list(bucket, key, parameters, signing);
    expect(status, text).toBe(200);
    return textsOf(text, 'Id');
  }

  revoke(bucket: string, key: string, id: string, signing?: Partial<Signing>): Promise<RawResponse> {
    return this.#ask('DELETE', bucket, key, { id }, signing);
  }

  /** Follows a link without credentials. */
  follow(url: string, headers: Headers = {}, method = 'GET'): Promise<RawResponse> {
    const { pathname, search } = new URL(url);
    const request = { method, path: pathname, query: search.slice(1), headers };
    return exchange(this.#service.url, anonymous(this.#service.host, request));
  }

  #ask(
    method: string,
    bucket: string,
    key: string,
    parameters: Parameters,
    signing: Partial<Signing> | undefined,
  ): Promise<RawResponse> {
    const query = queryOf({ 'public-link': '', ...parameters });
    return this.#service.send({ method, path: pathOf(bucket, key), query }, signing);
  }
}
