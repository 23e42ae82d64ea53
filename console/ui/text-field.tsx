import { Field } from './dialog.tsx';

/** A labelled line of text; with `rows` a text of several lines. */
export function TextField({
  label,
  hint,
  error,
  value,
  autofocus,
  rows,
  inputMode,
  disabled,
  maxLength,
  onInput,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly value: string;
  readonly autofocus?: boolean;
  readonly rows?: number;
  readonly inputMode?: 'numeric' | 'decimal';
  readonly disabled?: boolean;
  readonly maxLength?: number;
  readonly onInput: (value: string) => void;
}) {
  const common = {
    value,
    autocomplete: 'off',
    spellcheck: false,
    disabled: disabled === true,
    ...(autofocus && { autofocus }),
    ...(maxLength !== undefined && { maxLength }),
  };
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) =>
        rows === undefined ? (
          <input
            {...ids}
            {...common}
            {...(inputMode && { inputMode })}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        ) : (
          <textarea {...ids} {...common} rows={rows} onInput={(event) => onInput(event.currentTarget.value)} />
        )
      }
    </Field>
  );
}

/** A labelled date and time of the local clock, as `2026-11-22T14:00`. */
export function TimeField({
  label,
  value,
  onInput,
}: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}) {
  return (
    <Field label={label}>
      {(ids) => (
        <input {...ids} type="datetime-local" value={value} onInput={(event) => onInput(event.currentTarget.value)} />
      )}
    </Field>
  );
}
