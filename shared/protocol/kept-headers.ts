/**
 * The headers in which the router preserves what a client signed, because parts of it do not reach an operation: the
 * router rewrites the path to `/<Operation>`, the origin's host name replaces the client's, API Gateway drops an
 * Authorization header with a signature and the length of a body, and the source address is the distribution's. The
 * method needs no header: no router can change it.
 *
 * Any client can send such headers. They are trusted only together with the origin secret, which the distribution adds
 * to the requests it forwards and no client knows. A request without it is refused.
 */
export const keptHeaders = {
  /** The origin secret, which the distribution adds after the router has run. */
  proof: 'x-stillage-edge',
  /** Path and query as sent, undecoded. */
  target: 'x-stillage-target',
  host: 'x-stillage-host',
  /** Absent if the client did not send one. */
  authorization: 'x-stillage-authorization',
  /** Content-Length; absent if the client did not send one. */
  length: 'x-stillage-content-length',
  /** The client's address. */
  address: 'x-stillage-address',
} as const;

/** The client's protocol, `http` or `https`. The distribution sends it for websites, which are served over both. */
export const viewerProtocolHeader = 'CloudFront-Forwarded-Proto';
