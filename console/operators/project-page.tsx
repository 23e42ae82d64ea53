import { addressOf } from './operator-routes.ts';
import { may, session } from './operator-session.ts';
import { PagedTable } from './paged-table.tsx';
import { BucketsSection } from './quotas-section.tsx';
import { LooksOnly, Suspension } from './suspension.tsx';
import { visibleName } from '../format/names.ts';
import { date, exactDate } from '../messages/messages.ts';
import { texts } from '../messages/operators.ts';
import { Icon } from '../ui/icons.tsx';
import { useLoaded } from '../ui/loaded.ts';
import { ErrorBox } from '../ui/notices.tsx';
import { usePages } from '../ui/pages.ts';

/** A project: its use of quotas, its users, and their keys without secrets. */
export function ProjectPage({ project: name }: { readonly project: string }) {
  const { client } = session.value!;
  const words = texts.value;
  const {
    value: project,
    error,
    reload,
  } = useLoaded((signal) => client.ask('project show', { project: name }, signal), [client, name]);
  return (
    <div class="page">
      <div class="page-head">
        <h1 class="wrap-anywhere">{visibleName(name)}</h1>
        {may('bill') && (
          <a class="button" href={addressOf({ page: 'usage', project: name })}>
            <Icon name="activity" />
            {words.usageByDay}
          </a>
        )}
        {project && (
          <a class="button" href={addressOf({ page: 'customer', customer: project.customer })}>
            <Icon name="back" />
            {words.customer}
          </a>
        )}
      </div>
      {error !== undefined && <ErrorBox error={error} retry={reload} />}
      {project === undefined && error === undefined && <div class="skeleton" />}
      {project && (
        <div class="sections">
          <div>
            <LooksOnly />
            <dl class="details-list">
              <dt>{words.status}</dt>
              <dd>
                <Suspension kind="project" name={project.email} suspended={project.suspended} />
              </dd>
              <dt>{words.displayName}</dt>
              <dd>{visibleName(project.displayName)}</dd>
              <dt>{words.projectId}</dt>
              <dd class="mono">{project.id}</dd>
              {project.accountNumber !== undefined && (
                <>
                  <dt>{words.accountNumber}</dt>
                  <dd class="mono">{project.accountNumber}</dd>
                </>
              )}
              <dt>{words.root}</dt>
              <dd>{project.root === undefined ? words.none : visibleName(project.root)}</dd>
              <dt>{words.created}</dt>
              <dd title={exactDate(project.created)}>{date(project.created)}</dd>
            </dl>
          </div>
          <BucketsSection project={name} />
          <Users project={name} />
          <Keys project={name} />
        </div>
      )}
    </div>
  );
}

function Users({ project }: { readonly project: string }) {
  const { client } = session.value!;
  const words = texts.value;
  const list = usePages(
    (after, signal) => client.ask('user list', { project, after, limit: 50 }, signal),
    [client, project],
  );
  return (
    <section class="stack tight">
      <h2>{words.users}</h2>
      <PagedTable
        list={list}
        items={({ users }) => users}
        caption={words.users}
        columns={[{ title: words.user }, { title: words.created, class: 'hide-narrow' }, { title: words.status }]}
        empty={<p class="muted">{words.noUsers}</p>}
        row={({ user, name, created, suspended }) => (
          <tr key={user}>
            <td>{visibleName(name)}</td>
            <td class="hide-narrow" title={exactDate(created)}>
              {date(created)}
            </td>
            <td>
              <Suspension kind="user" name={user} suspended={suspended} />
            </td>
          </tr>
        )}
      />
    </section>
  );
}

function Keys({ project }: { readonly project: string }) {
  const { client } = session.value!;
  const words = texts.value;
  const list = usePages(
    (after, signal) => client.ask('key list', { of: project, after, limit: 50 }, signal),
    [client, project],
  );
  return (
    <section class="stack tight">
      <h2>{words.keys}</h2>
      <PagedTable
        list={list}
        items={({ keys }) => keys}
        caption={words.keys}
        columns={[
          { title: words.key },
          { title: words.user, class: 'hide-narrow' },
          { title: words.created, class: 'hide-narrow' },
          { title: words.lastUsed, class: 'hide-narrow' },
          { title: words.ends, class: 'hide-narrow' },
          { title: words.status },
        ]}
        empty={<p class="muted">{words.noKeys}</p>}
        row={({ accessKeyId, user, created, used, until, suspended }) => (
          <tr key={accessKeyId}>
            <td class="mono">{visibleName(accessKeyId)}</td>
            <td class="hide-narrow">{visibleName(user)}</td>
            <td class="hide-narrow" title={exactDate(created)}>
              {date(created)}
            </td>
            <td class="hide-narrow" title={used === undefined ? undefined : exactDate(used.at)}>
              {used === undefined ? words.noUse : words.usedFor(date(used.at), used.service.toUpperCase())}
            </td>
            <td class="hide-narrow" title={until === undefined ? undefined : exactDate(until)}>
              {until === undefined ? words.never : date(until)}
            </td>
            <td>
              <Suspension kind="key" name={accessKeyId} suspended={suspended} until={until} />
            </td>
          </tr>
        )}
      />
    </section>
  );
}
