import type { ComponentChildren } from 'preact';

/** A setting that is on or off and changes at once. */
export function Switch({
  label,
  hint,
  value,
  disabled,
  onInput,
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly value: boolean;
  readonly disabled?: boolean;
  readonly onInput: (checked: boolean) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        role="switch"
        checked={value}
        disabled={disabled === true}
        onChange={(event) => onInput(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span class="hint block">{hint}</span>}
      </span>
    </label>
  );
}
