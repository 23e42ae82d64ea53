import { expect, it } from 'vitest';
import { withPropertyNames } from '../../infra/lean-sdk.ts';

it('properties that are named by constants get the names, and all else stays', () => {
  const source = 'const _e = "error";\nconst _n = 3;\nvar A = [-3, _e, { [_e]: _c, [_n]: 4, [other]: 5 }];';
  expect(withPropertyNames(source)).toBe(
    'const _e = "error";\nconst _n = 3;\nvar A = [-3, _e, { "error": _c, [_n]: 4, [other]: 5 }];',
  );
});
