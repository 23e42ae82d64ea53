/** The route table as the router carries it: what `infra/router-code.ts` makes of `shared/protocol/routes.ts`. */
export interface CompiledRoutes {
  /** Buckets may be addressed as `<bucket>.<domain>`. */
  readonly domain: string;
  /** Websites are served at `<bucket>.<websiteDomain>`. */
  readonly websiteDomain: string;
  /** Every query parameter that selects a row, also of rows that are not here; the values mean nothing. */
  readonly subresources: Readonly<Record<string, 1>>;
  /** By `<level> <METHOD> <sub-resource or reserved path>`: the rows to choose from, the most specific first. */
  readonly rows: Readonly<Record<string, readonly CompiledRow[]>>;
  /** The function for all that no row matches: it answers stubs, and says what is wrong with the others. */
  readonly otherwise: string;
  /** The functions that have a byte lane, with the headers of which a request must have one; none: it needs none. */
  readonly byteLane: Readonly<Record<string, readonly string[]>>;
  /** A request with one of these headers does not take the byte lane. */
  readonly withheld: readonly string[];
}

/** The name of a function, and what a request must have for it. */
export type CompiledRow = readonly [
  operation: string,
  header?: string | 0,
  parameter?: readonly [name: string, value: string],
];
