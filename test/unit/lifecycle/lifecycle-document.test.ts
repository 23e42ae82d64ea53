import { describe, expect, it } from 'vitest';
import {
  decodeLifecycle,
  encodeLifecycle,
  type LifecycleDocument,
} from '../../../shared/lifecycle/lifecycle-document.ts';
import { enabledRules } from '../../../shared/lifecycle/lifecycle-rules.ts';
import { DamagedItem } from '../../../shared/storage/table/stored-reader.ts';
import type { Attributes } from '../../../shared/ports/key-value-table.ts';

const lifecycle: LifecycleDocument = {
  minimumSize: 'all_storage_classes_128K',
  rules: [
    { id: 'prefix', status: 'Enabled', scope: { form: 'prefix', prefix: '' }, expiration: { days: 3 } },
    {
      id: 'every condition',
      status: 'Disabled',
      scope: { form: 'and', prefix: 'logs/', tags: [{ key: 'a', value: '' }], greaterThan: 0, lessThan: 9 },
      expiration: { date: 86_400_000 },
      noncurrent: { days: 1, newerVersions: 2 },
    },
    { id: 'marker', status: 'Enabled', scope: { form: 'filter' }, expiration: { expiredObjectDeleteMarker: false } },
    { id: 'upload', status: 'Enabled', scope: { form: 'filter' }, noncurrent: { days: 4 }, abortDays: 7 },
  ],
};

describe('the document of lifecycle rules', () => {
  it('is decoded to what was encoded', () => {
    expect(decodeLifecycle(encodeLifecycle(lifecycle))).toEqual(lifecycle);
  });

  it('has And around conditions that earlier versions accepted without it', () => {
    const scope = { prefix: 'logs/', tags: [{ key: 'a', value: '' }] };
    const rule = { id: 'two', status: 'Enabled', expiration: { days: 3 } } as const;
    const stored = encodeLifecycle({ ...lifecycle, rules: [{ ...rule, scope: { form: 'filter', ...scope } }] });
    expect(decodeLifecycle(stored).rules).toEqual([{ ...rule, scope: { form: 'and', ...scope } }]);
  });

  const rule: Attributes = { id: 'one', status: 'Enabled', scope: { form: 'filter' } };
  it.each<[string, Attributes]>([
    ['rules', {}],
    ['rules', { rules: 'none' }],
    ['rules[0]', { rules: ['a rule'] }],
    ['rules[0] id', { rules: [{ ...rule, id: 1 }] }],
    ['rules[0] status', { rules: [{ ...rule, status: 'enabled' }] }],
    ['rules[0] scope form', { rules: [{ ...rule, scope: {} }] }],
    ['rules[0] expiration days', { rules: [{ ...rule, expiration: { days: '3' } }] }],
    ['rules[0] expiration expiredObjectDeleteMarker', { rules: [{ ...rule, expiration: {} }] }],
    ['rules[0] abortDays', { rules: [{ ...rule, abortDays: true }] }],
  ])('is refused where %s is damaged', (place, document) => {
    expect(() => enabledRules(document)).toThrow(DamagedItem);
    expect(() => enabledRules(document)).toThrow(`lifecycle ${place} is not`);
  });

  it('is refused without its minimum size', () => {
    expect(() => decodeLifecycle({ rules: [] })).toThrow('lifecycle minimumSize is not a string');
  });
});
