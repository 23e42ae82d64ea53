import { Field } from './dialog.tsx';

/** A labelled choice of one of several. */
export function Select<K extends string>({
  label,
  hint,
  value,
  options,
  onInput,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly value: K;
  readonly options: readonly (readonly [value: K, name: string])[];
  readonly onInput: (value: K) => void;
}) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select {...ids} value={value} onChange={(event) => onInput(event.currentTarget.value as K)}>
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

/** Options with their names; one without is its own. */
export const named = <K extends string>(keys: readonly K[], names?: Readonly<Partial<Record<NoInfer<K>, string>>>) =>
  keys.map((key) => [key, names?.[key] ?? key] as const);
