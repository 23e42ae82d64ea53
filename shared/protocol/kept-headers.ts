/**
 * What a client signed does not survive the way to an operation: the router rewrites the path to `/<Operation>`, the origin's
 * host name replaces the client's, API Gateway drops an Authorization header that holds a signature and the length of a body,
 * and what arrives comes from the address of the distribution. So the router keeps the originals in these headers. The
 * method needs none: no router can change it.
 *
 * Anybody can send such headers. They are believed only beside the proof: a secret that the distribution adds to what it
 * forwards, and that no client knows. A request without it is refused.
 */
export const keptHeaders = {
  /** The proof, which the distribution adds after the router has run. */
  proof: 'x-stillage-edge',
  /** Path and query as sent, undecoded. */
  target: 'x-stillage-target',
  host: 'x-stillage-host',
  /** Absent if the client sent none. */
  authorization: 'x-stillage-authorization',
  /** Content-Length; absent if the client sent none. */
  length: 'x-stillage-content-length',
  /** The client's address. */
  address: 'x-stillage-address',
} as const;

/** `http` or `https`, as the client came. The distribution tells it of websites, which answer to both. */
export const viewerProtocolHeader = 'CloudFront-Forwarded-Proto';
