import { addressOf } from './operator-routes.ts';
import { session } from './operator-session.ts';
import { PagedTable } from './paged-table.tsx';
import { LooksOnly, Suspension } from './suspension.tsx';
import { visibleName } from '../format/names.ts';
import { date, exactDate } from '../messages/messages.ts';
import { texts } from '../messages/operators.ts';
import { Icon } from '../ui/icons.tsx';
import { useLoaded } from '../ui/loaded.ts';
import { ErrorBox } from '../ui/notices.tsx';
import { usePages } from '../ui/pages.ts';

/** A customer: whether it is suspended, and its projects. */
export function CustomerPage({ customer: name }: { readonly customer: string }) {
  const { client } = session.value!;
  const words = texts.value;
  const {
    value: customer,
    error,
    reload,
  } = useLoaded((signal) => client.ask('customer show', { customer: name }, signal), [client, name]);
  return (
    <div class="page">
      <div class="page-head">
        <h1 class="wrap-anywhere">{visibleName(name)}</h1>
        <a class="button" href="/">
          <Icon name="back" />
          {words.customers}
        </a>
      </div>
      {error !== undefined && <ErrorBox error={error} retry={reload} />}
      {customer === undefined && error === undefined && <div class="skeleton" />}
      {customer && (
        <div class="sections">
          <div>
            <LooksOnly />
            <dl class="details-list">
              <dt>{words.status}</dt>
              <dd>
                <Suspension kind="customer" name={customer.customer} suspended={customer.suspended} />
              </dd>
              <dt>{words.created}</dt>
              <dd title={exactDate(customer.created)}>{date(customer.created)}</dd>
            </dl>
          </div>
          <Projects customer={name} />
        </div>
      )}
    </div>
  );
}

function Projects({ customer }: { readonly customer: string }) {
  const { client } = session.value!;
  const words = texts.value;
  const list = usePages(
    (after, signal) => client.ask('project list', { customer, after, limit: 100 }, signal),
    [client, customer],
  );
  return (
    <section class="stack tight">
      <h2>{words.projects}</h2>
      <PagedTable
        list={list}
        items={({ projects }) => projects}
        caption={words.projects}
        columns={[
          { title: words.project },
          { title: words.displayName, class: 'hide-narrow' },
          { title: words.created, class: 'hide-narrow' },
          { title: words.status },
        ]}
        empty={<p class="muted">{words.noProjects}</p>}
        row={({ email, displayName, created, suspended }) => (
          <tr key={email}>
            <td>
              <a href={addressOf({ page: 'project', project: email })}>{visibleName(email)}</a>
            </td>
            <td class="hide-narrow">{visibleName(displayName)}</td>
            <td class="hide-narrow" title={exactDate(created)}>
              {date(created)}
            </td>
            <td>
              <Suspension kind="project" name={email} suspended={suspended} />
            </td>
          </tr>
        )}
      />
    </section>
  );
}
