import { useState } from 'preact/hooks';
import { t } from '../messages/messages.ts';
import { CommandLine } from '../ui/command-line.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorBox } from '../ui/notices.tsx';

export type Pair = readonly [name: string, value: string];

/** Edits names and values: tags, metadata, headers. */
export function PairsEditor({
  pairs,
  names,
  max,
  fixedNames,
  commandOf,
  onSave,
  onCancel,
}: {
  readonly pairs: readonly Pair[];
  readonly names: { readonly name: string; readonly value: string; readonly add: string };
  readonly max: number;
  /** True if the names are fixed, and only values can change. */
  readonly fixedNames?: boolean;
  /** Returns the command that saves these pairs. */
  readonly commandOf: (pairs: readonly Pair[]) => string;
  readonly onSave: (pairs: readonly Pair[]) => Promise<void>;
  readonly onCancel: () => void;
}) {
  const [rows, setRows] = useState<readonly Pair[]>(pairs.length > 0 ? pairs : [['', '']]);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const change = (index: number, pair: Pair): void => setRows(rows.map((row, each) => (each === index ? pair : row)));
  const named = rows.filter(([name]) => name.trim() !== '');
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      await onSave(named);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {error !== undefined && <ErrorBox error={error} />}
      <div class="pairs">
        {rows.map(([name, value], index) => (
          <>
            <input
              aria-label={`${names.name} ${index + 1}`}
              placeholder={names.name}
              value={name}
              readOnly={fixedNames === true}
              onInput={(event) => change(index, [event.currentTarget.value, value])}
            />
            <input
              aria-label={`${names.value} ${index + 1}`}
              placeholder={names.value}
              value={value}
              onInput={(event) => change(index, [name, event.currentTarget.value])}
            />
            <button
              type="button"
              class="quiet square"
              aria-label={`${t.value.common.remove} ${index + 1}`}
              onClick={() =>
                fixedNames ? change(index, [name, '']) : setRows(rows.filter((_, each) => each !== index))
              }
            >
              <Icon name="close" />
            </button>
          </>
        ))}
      </div>
      <div class="row">
        {!fixedNames && (
          <button type="button" disabled={rows.length >= max} onClick={() => setRows([...rows, ['', '']])}>
            <Icon name="plus" />
            {names.add}
          </button>
        )}
        <span class="grow" />
        <button type="button" onClick={onCancel}>
          {t.value.common.cancel}
        </button>
        <button type="submit" class="primary" disabled={busy}>
          {t.value.common.save}
        </button>
      </div>
      <CommandLine command={commandOf(named)} />
    </form>
  );
}
