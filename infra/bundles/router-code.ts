import type { CompiledRoutes, CompiledRow } from '../../functions/cloud/edge/compiled-routes.ts';
import { byteLane, routes, type Route } from '../../shared/protocol/operation-table.ts';
import { specificity } from '../../shared/protocol/routes.ts';
import { edgeFunctionCode } from './edge-function-code.ts';
import type { FunctionDescription } from './operation-descriptions.ts';

export interface RouterProps {
  readonly domain: string;
  readonly websiteDomain: string;
  readonly functions: readonly FunctionDescription[];
  /** The function for routes that no other function serves. */
  readonly otherwise: string;
  /** True if the deployment has a byte lane. */
  readonly hasByteLane: boolean;
  /** Accepts customer-provided keys (SSE-C). Otherwise the router refuses them before they reach the byte lane. */
  readonly customerKeys?: boolean;
}

/** Returns the routes for the router, without those that lead to the default function anyway. */
function compileRoutes({
  domain,
  websiteDomain,
  functions,
  otherwise,
  hasByteLane,
  customerKeys = true,
}: RouterProps): CompiledRoutes {
  const servedBy = new Map(
    functions.flatMap(({ name, serves }) => serves.map((operation) => [operation, name] as const)),
  );
  const functionOf = ({ operation }: Route): string => servedBy.get(operation) ?? otherwise;
  const all: readonly Route[] = routes;
  const placeOf = ({ on, method, query, path }: Route): string => `${on} ${method} ${query ?? path ?? ''}`;
  const compiled = [...new Set(all.map(placeOf))]
    .map((place) => [place, all.filter((row) => placeOf(row) === place)] as const)
    .filter(([, rows]) => rows.some((row) => functionOf(row) !== otherwise))
    .map(([place, rows]) => {
      const specificFirst = rows.toSorted((a, b) => specificity(b) - specificity(a));
      return [place, specificFirst.map((row) => compileRow(functionOf(row), row))] as const;
    });
  const present = new Set(functions.map(({ name }) => name));
  return {
    domain,
    websiteDomain,
    subresources: Object.fromEntries(all.flatMap(({ query }) => (query === undefined ? [] : [[query, 1] as const]))),
    rows: Object.fromEntries(compiled),
    otherwise,
    byteLane: hasByteLane
      ? Object.fromEntries(Object.entries(byteLane).filter(([operation]) => present.has(operation)))
      : {},
    withheld: customerKeys ? [] : customerKeyHeaders,
  };
}

const customerKeyHeaders = ['', 'copy-source-'].map((prefix) => `x-amz-${prefix}server-side-encryption-customer-key`);

function compileRow(name: string, { header, parameter, api }: Route): CompiledRow {
  if (api) return [name, header ?? 0, parameter ?? 0, api];
  if (parameter) return [name, header ?? 0, parameter];
  return header === undefined ? [name] : [name, header];
}

/**
 * Compiles the router with its routes into the code of a CloudFront Function.
 * @throws Error if it uses unsupported syntax, or is too long
 */
export function routerCode(props: RouterProps): Promise<string> {
  return edgeFunctionCode('the router', entry(compileRoutes(props)));
}

function entry(compiled: CompiledRoutes): string {
  return [
    `import cf from 'cloudfront';`,
    `import { router } from './functions/cloud/edge/router.ts';`,
    `export const handler = router(${JSON.stringify(compiled)}, (id) => cf.selectRequestOriginById(id));`,
  ].join('\n');
}
