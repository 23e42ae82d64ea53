import { useEffect } from 'preact/hooks';
import type { ShortForm } from './policy-words.ts';
import { people } from '../../messages/people.ts';
import { buckets, loadBuckets } from '../../session/known-buckets.ts';
import { named, Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { accesses } from '../../../shared/documents/short-policy.ts';

type Input<T> = { readonly [K in keyof T]: { readonly value: T[K]; readonly onInput: (value: T[K]) => void } };

/** The field for a bucket: one of the list, or where the caller may not list them, any. */
export function BucketField({ value, onInput }: Input<ShortForm>['bucket']) {
  const label = people.value.bucket;
  useEffect(() => void loadBuckets(), []);
  const names = (buckets.value ?? []).map(({ name }) => name);
  const isChosen = value !== '' && names.includes(value);
  const first = names[0];
  useEffect(() => {
    if (value === '' && first !== undefined) onInput(first);
  }, [value, first]);
  if (names.length === 0) return <TextField label={label} value={value} onInput={onInput} />;
  const options = isChosen || value === '' ? names : [value, ...names];
  return <Select label={label} value={value} options={named(options)} onInput={onInput} />;
}

/** The fields of the form of policies. */
export function ShortFormFields({ bucket, prefix, access }: Input<ShortForm>) {
  const texts = people.value;
  return (
    <>
      <BucketField {...bucket} />
      <TextField label={texts.prefix} hint={texts.prefixHint} {...prefix} />
      <Select label={texts.accessTo} options={named(accesses, texts.shortAccesses)} {...access} />
    </>
  );
}
