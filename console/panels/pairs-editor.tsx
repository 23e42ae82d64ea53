import { useState } from 'preact/hooks';
import { t } from '../messages/messages.ts';
import { Button } from '../ui/button.tsx';
import { CommandLine } from '../ui/command-line.tsx';
import { useSaving } from '../ui/form.ts';
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
  const { failure, busy, save } = useSaving();
  const change = (index: number, pair: Pair): void => setRows(rows.map((row, each) => (each === index ? pair : row)));
  const named = rows.filter(([name]) => name.trim() !== '');
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        void save(() => onSave(named));
      }}
    >
      {failure !== undefined && <ErrorBox error={failure} />}
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
            <Button
              icon="close"
              label={`${t.value.common.remove} ${index + 1}`}
              onClick={() =>
                fixedNames ? change(index, [name, '']) : setRows(rows.filter((_, each) => each !== index))
              }
            />
          </>
        ))}
      </div>
      <div class="row">
        {!fixedNames && (
          <Button icon="plus" disabled={rows.length >= max} onClick={() => setRows([...rows, ['', '']])}>
            {names.add}
          </Button>
        )}
        <span class="grow" />
        <Button onClick={onCancel}>{t.value.common.cancel}</Button>
        <Button type="submit" kind="primary" disabled={busy}>
          {t.value.common.save}
        </Button>
      </div>
      <CommandLine command={commandOf(named)} />
    </form>
  );
}
