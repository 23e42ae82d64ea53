import { useState } from 'preact/hooks';
import type { DayUsage } from './admin-client.ts';
import { addressOf, go } from './operator-routes.ts';
import { may, session } from './operator-session.ts';
import { visibleName } from '../format/names.ts';
import { number, size } from '../messages/messages.ts';
import { texts } from '../messages/operators.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { useLoaded } from '../ui/loaded.ts';
import { ErrorBox } from '../ui/notices.tsx';
import { TextField } from '../ui/text-field.tsx';

/** What a project has used in a month, by day. Who may not list projects names one. */
export function UsagePage({ project }: { readonly project?: string }) {
  const words = texts.value;
  const [name, setName] = useState(project ?? '');
  const [month, setMonth] = useState(new Date().toISOString().slice(0, 7));
  return (
    <div class="page">
      <div class="page-head">
        <h1 class="wrap-anywhere">{project === undefined ? words.usage : words.usageTitle(visibleName(project))}</h1>
        {project !== undefined && may('read') && (
          <a class="button" href={addressOf({ page: 'project', project })}>
            <Icon name="back" />
            {words.project}
          </a>
        )}
      </div>
      <form
        class="asked"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '') go({ page: 'usage', project: name.trim() });
        }}
      >
        <TextField label={words.usageOf} value={name} onInput={setName} />
        <Field label={words.month}>
          {(ids) => (
            <input
              {...ids}
              type="month"
              required
              value={month}
              onInput={(event) => setMonth(event.currentTarget.value)}
            />
          )}
        </Field>
        <Button type="submit">{words.show}</Button>
      </form>
      {project !== undefined && /^\d{4}-\d\d$/.test(month) && <Usage project={project} month={month} />}
    </div>
  );
}

const columns = ['a', 'b', 'free', 'bytesIn', 'bytesOut', 'byteHours', 'objects'] as const;
type Counts = Readonly<Record<(typeof columns)[number], number>>;

function Usage({ project, month }: { readonly project: string; readonly month: string }) {
  const { client } = session.value!;
  const words = texts.value;
  const { value, error, reload } = useLoaded(
    (signal) => client.ask('usage', { project, month }, signal),
    [client, project, month],
  );
  if (error !== undefined) return <ErrorBox error={error} retry={reload} />;
  if (value === undefined) return <div class="skeleton" />;
  const { days } = value;
  if (days.length === 0) return <p class="muted">{words.notBegun}</p>;
  return (
    <section class="stack tight">
      <p class="muted">{words.usageHint}</p>
      {/* What does not fit is scrolled by the keyboard as well. */}
      <div class="scrolled" tabIndex={0} role="group" aria-label={words.usageTitle(visibleName(project))}>
        <table class="records numbers">
          <thead>
            <tr>
              <th>{words.day}</th>
              <th class="number">{words.classA}</th>
              <th class="number">{words.classB}</th>
              <th class="number">{words.free}</th>
              <th class="number">{words.bytesIn}</th>
              <th class="number">{words.bytesOut}</th>
              <th class="number">{words.byteHours}</th>
              <th class="number">{words.objects}</th>
            </tr>
          </thead>
          <tbody>
            <Line name={words.total} counts={totalOf(days)} />
            {days.toReversed().map((day) => (
              <Line key={day.day} name={day.day} counts={day} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Line({ name, counts }: { readonly name: string; readonly counts: Counts }) {
  return (
    <tr>
      <td>{name}</td>
      {columns.map((column) => (
        <td key={column} class="number">
          {column.startsWith('byte') ? size(counts[column]) : number(counts[column])}
        </td>
      ))}
    </tr>
  );
}

/** Sums all columns but `objects`, which is the number at the end. */
function totalOf(days: readonly DayUsage[]): Counts {
  const sum = (column: keyof Counts): number => days.reduce((before, day) => before + day[column], 0);
  const sums = Object.fromEntries(columns.map((column) => [column, sum(column)])) as Record<keyof Counts, number>;
  return { ...sums, objects: days.at(-1)!.objects };
}
