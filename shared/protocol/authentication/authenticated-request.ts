import type { Address, Target } from '../../http/address.ts';
import type { Fields, RequestMessage } from '../../http/message.ts';
import type { Query } from '../../http/query.ts';
import { withHoisted } from '../../signing/hoisted.ts';
import type { Scheme } from '../../signing/scheme.ts';

/**
 * A request in the one reading that its signature covers. A query can be read in more than one way, so that before the signature is
 * verified nobody knows what is asked for; what is done (the operation, its input, what policies are told) follows from this alone.
 * Only authentication makes one, and nothing else can stand in for it.
 */
export class AuthenticatedRequest {
  readonly method: string;
  readonly address: Address;
  readonly query: Query;
  /** Whether the bucket was named by the Host header. */
  readonly virtualHost: boolean;
  readonly secure: boolean;
  readonly remoteAddress: string;
  /** Private, so that an object that merely has the same properties is not taken for one of these. */
  readonly #fields: Fields;

  private constructor(request: RequestMessage, { address, virtualHost }: Target, query: Query, fields: Fields) {
    this.method = request.method;
    this.address = address;
    this.query = query;
    this.#fields = fields;
    this.virtualHost = virtualHost;
    this.secure = request.secure;
    this.remoteAddress = request.remoteAddress;
  }

  /** Header fields, and those that a presigned URL has in its query in their place. */
  get fields(): Fields {
    return this.#fields;
  }

  /**
   * @param query as it was signed
   * @param scheme what stands in the query in the place of headers counts if the signature stands there too
   * @throws S3Error InvalidArgument for what the query has in the place of a header and no header can have
   */
  static of(request: RequestMessage, target: Target, query: Query, scheme: Scheme): AuthenticatedRequest {
    const isPresigned = scheme === 'v4-presigned' || scheme === 'v2-presigned';
    return new AuthenticatedRequest(
      request,
      target,
      query,
      isPresigned ? withHoisted(request.fields, query) : request.fields,
    );
  }
}
