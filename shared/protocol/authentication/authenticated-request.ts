import type { Address, Target } from '../../http/address.ts';
import type { Fields, RequestMessage } from '../../http/message.ts';
import type { Query } from '../../http/query.ts';
import { withHoisted } from '../../signing/v2/hoisted.ts';
import type { Scheme } from '../../signing/scheme.ts';

/**
 * A request in the one reading that its signature covers. A query can be read in several ways, so until the signature
 * is verified it is not known what is requested; everything that follows (the operation, its input, the facts for
 * policies) is derived from this object alone. Only authentication can create one.
 */
export class AuthenticatedRequest {
  readonly method: string;
  readonly address: Address;
  readonly query: Query;
  /** True if the Host header names the bucket. */
  readonly virtualHost: boolean;
  readonly secure: boolean;
  readonly remoteAddress: string;
  readonly tlsVersion: string | undefined;
  /** Private, so that another object with the same properties is not assignable. */
  readonly #fields: Fields;

  private constructor(request: RequestMessage, { address, virtualHost }: Target, query: Query, fields: Fields) {
    this.method = request.method;
    this.address = address;
    this.query = query;
    this.#fields = fields;
    this.virtualHost = virtualHost;
    this.secure = request.secure;
    this.remoteAddress = request.remoteAddress;
    this.tlsVersion = request.tlsVersion;
  }

  /** The header fields, including those that a presigned URL carries in its query instead. */
  get fields(): Fields {
    return this.#fields;
  }

  /**
   * Creates an authenticated request.
   * @param query the reading that was signed
   * @param scheme headers in the query count only if the signature is in the query too
   * @throws S3Error InvalidArgument for a query parameter in place of a header that no header could be
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
