import { useState } from 'preact/hooks';
import type { Actor, AuditRecord } from './admin-client.ts';
import { session } from './operator-session.ts';
import { PagedTable } from './paged-table.tsx';
import { visibleName } from '../format/names.ts';
import { exactDate, minute } from '../messages/messages.ts';
import { texts } from '../messages/operators.ts';
import { Button } from '../ui/button.tsx';
import { useForm } from '../ui/form.ts';
import { usePages } from '../ui/pages.ts';
import { named, Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';

const hour = 3_600_000;
/** How far back one can look, in milliseconds. */
const spans = { hour, day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour, quarter: 90 * 24 * hour } as const;
type Span = keyof typeof spans;

interface Asked {
  readonly since: Span;
  readonly project: string;
  readonly bucket: string;
}

/** The audit log, from its oldest entry in a time, of everything or of a project or a bucket. */
export function AuditPage() {
  const { client } = session.value!;
  const words = texts.value;
  const { values, field } = useForm((): Asked => ({ since: 'day', project: '', bucket: '' }));
  const [asked, setAsked] = useState(values);
  const list = usePages(
    (after, signal) => {
      const { since, ...filters } = asked;
      const filled = Object.entries(filters).filter(([, text]) => text.trim() !== '');
      const given = Object.fromEntries(filled.map(([name, text]) => [name, text.trim()]));
      return client.ask('audit', { since: spans[since], ...given, after }, signal);
    },
    [client, asked],
  );
  return (
    <div class="page">
      <div class="page-head">
        <h1>{words.audit}</h1>
      </div>
      <p class="muted page-hint">{words.auditHint}</p>
      <form
        class="asked"
        onSubmit={(event) => {
          event.preventDefault();
          // The same again is asked again.
          setAsked({ ...values });
        }}
      >
        <Select label={words.since} options={named(Object.keys(spans) as Span[], words.sinces)} {...field('since')} />
        <TextField label={words.ofProject} {...field('project')} />
        <TextField label={words.ofBucket} {...field('bucket')} />
        <Button type="submit">{words.show}</Button>
      </form>
      <PagedTable
        list={list}
        items={({ records }) => records}
        caption={words.audit}
        columns={[
          { title: words.time },
          { title: words.who },
          { title: words.from, class: 'hide-narrow' },
          { title: words.what },
          { title: words.about, class: 'hide-narrow' },
          { title: words.result, class: 'hide-narrow' },
        ]}
        empty={<p class="muted">{list.more === undefined ? words.noRecords : words.noRecordsYet}</p>}
        row={(record) => <Entry key={record.id} record={record} />}
      />
    </div>
  );
}

function Entry({ record }: { readonly record: AuditRecord }) {
  const { time, by, address = '–', agent, event, error } = record;
  const words = texts.value;
  const about = aboutOf(record);
  const result = error === undefined ? words.done : <span class="badge bad">{visibleName(error)}</span>;
  return (
    <tr>
      <td class="fit" title={exactDate(time)}>
        {minute(time)}
      </td>
      <td>{nameOf(by)}</td>
      <td class="hide-narrow" title={agent === undefined ? undefined : visibleName(agent)}>
        {visibleName(address)}
      </td>
      <td>
        {visibleName(event)}
        {/* A phone has no room for more columns. */}
        <div class="only-narrow small muted">{about}</div>
        {error !== undefined && <div class="only-narrow">{result}</div>}
      </td>
      <td class="hide-narrow">{about}</td>
      <td class="hide-narrow">{result}</td>
    </tr>
  );
}

function nameOf(by: Actor): string {
  const words = texts.value;
  switch (by.kind) {
    case 'user':
      return visibleName(`${by.user} (${by.key})`);
    case 'anonymous':
      return words.anonymous;
    case 'operator':
      return words.byOperator(visibleName(by.operator));
    case 'machine':
      return words.onMachine(visibleName(by.user));
    case 'invoker':
      return words.invoker;
  }
}

/** The bucket or object, and what a command was given. */
function aboutOf({ bucket, key, given }: AuditRecord): string {
  const place = bucket === undefined ? [] : [key === undefined ? bucket : `${bucket}/${key}`];
  const told = Object.entries(given ?? {}).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${name}: ${text}`;
  });
  return visibleName([...place, ...told].join(', '));
}
