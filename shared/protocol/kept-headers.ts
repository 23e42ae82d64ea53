/**
 * What a client signed does not survive the way to a function: the router rewrites the path to `/<Operation>/…` and the
 * origin's host name replaces the client's, API Gateway decodes the query, drops an Authorization header that holds a
 * signature, and sees the address of the router. So the router keeps the originals in these headers. The method needs
 * none: no router can change it.
 *
 * Anybody can send such headers to the API. They are believed only beside the proof: a secret that the distribution adds to
 * what it forwards, and that no client knows. Without it they are dropped.
 */
export const keptHeaders = {
  /** The proof. */
  proof: 'x-stillage-edge',
  /** Path and query as sent, undecoded. */
  target: 'x-stillage-target',
  host: 'x-stillage-host',
  /** Absent if the client sent none. */
  authorization: 'x-stillage-authorization',
  /** The client's address. */
  address: 'x-stillage-address',
} as const;
