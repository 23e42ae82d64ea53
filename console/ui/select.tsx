import { Field } from './dialog.tsx';

/** A labelled choice of one of several. */
export function Select<K extends string>({
  label,
  hint,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly value: K;
  readonly options: readonly (readonly [value: K, name: string])[];
  readonly onChange: (value: K) => void;
}) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select {...ids} value={value} onChange={(event) => onChange(event.currentTarget.value as K)}>
          {options.map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
