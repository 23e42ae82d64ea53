import type { OtherApi } from '../../../shared/http/query-api.ts';

/** The route table of the router, compiled by `infra/bundles/router-code.ts` from `shared/protocol/routes.ts`. */
export interface CompiledRoutes {
  /** Buckets can be addressed as `<bucket>.<domain>`. */
  readonly domain: string;
  /** Websites are served at `<bucket>.<websiteDomain>`. */
  readonly websiteDomain: string;
  /** Every query parameter that selects a row, including rows not in this table; the values have no meaning. */
  readonly subresources: Readonly<Record<string, 1>>;
  /** The candidate rows by `<level> <METHOD> <sub-resource or reserved path>`, most specific first. */
  readonly rows: Readonly<Record<string, readonly CompiledRow[]>>;
  /** The function for requests that match no row: it answers stubs, and returns the errors of the others. */
  readonly otherwise: string;
  /**
   * The functions that have a byte lane, each with the headers of which a request must have one; an empty list requires
   * none.
   */
  readonly byteLane: Readonly<Record<string, readonly string[]>>;
  /** Requests with one of these headers do not take the byte lane. */
  readonly withheld: readonly string[];
}

/** A function, and the header, parameter or API that a request must have, or be for, to reach it. */
export type CompiledRow = readonly [
  operation: string,
  header?: string | 0,
  parameter?: readonly [name: string, value: string] | 0,
  api?: OtherApi,
];
