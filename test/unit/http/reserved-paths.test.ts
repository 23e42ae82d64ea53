import { expect, it } from 'vitest';
import { isReservedPath, reservedRoute } from '../../../shared/http/reserved-paths.ts';
import { routes, type Route } from '../../../shared/protocol/operation-table.ts';

const all: readonly Route[] = routes;
const paths = [...new Set(all.flatMap(({ path }) => path ?? []))];

it.each(paths)('the path %s of the route table is reserved, and leads to its row', (path) => {
  const sent = path.replace(/\*$/, 'token');
  expect(isReservedPath(sent)).toBe(true);
  expect(reservedRoute(sent)).toBe(path);
});

it.each(['/', '/stillage', '/_stillagex', '/_publicx/token', '/bucket/_public/token', '/_Public/token'])(
  'the path %s is not reserved',
  (path) => {
    expect(isReservedPath(path)).toBe(false);
  },
);
