import type { ComponentChildren } from 'preact';

/** A setting that is on or off and changes at once. */
export function Switch({
  label,
  hint,
  checked,
  disabled,
  onChange,
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        disabled={disabled === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span class="hint block">{hint}</span>}
      </span>
    </label>
  );
}
