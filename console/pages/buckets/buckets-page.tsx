import { useEffect, useState } from 'preact/hooks';
import { createBucketDialog } from './create-bucket.tsx';
import { deleteBucketDialog } from './delete-bucket.tsx';
import { visibleName } from '../../format/names.ts';
import { date, exactDate, number, size, t } from '../../messages/messages.ts';
import { goToBucket } from '../../panels/go-to-bucket.tsx';
import type { Bucket } from '../../s3/buckets.ts';
import {
  buckets,
  bucketsError,
  facts,
  favourites,
  loadBuckets,
  loadFacts,
  sortedBuckets,
  toggleFavourite,
  uses,
} from '../../session/known-buckets.ts';
import { addressOf, go } from '../../session/router.ts';
import { config, session } from '../../session/session.ts';
import { awsCommand } from '../../format/commands.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { Icon } from '../../ui/icons.tsx';
import { openMenuBelow, type Menu } from '../../ui/menu.tsx';
import { Empty, ErrorBox } from '../../ui/notices.tsx';
import { useSeen } from '../../ui/seen.ts';

/** The list of buckets: names at once, and their contents as they are loaded. */
export function BucketsPage() {
  const [filter, setFilter] = useState('');
  const texts = t.value.buckets;
  const all = sortedBuckets.value;
  const shown = all.filter(({ name }) => name.includes(filter.trim().toLowerCase()));
  useEffect(() => void loadBuckets(), []);
  return (
    <div class="page">
      <div class="page-head">
        <h1>{texts.title}</h1>
        <div class="filter">
          <Icon name="search" />
          <input
            type="search"
            aria-label={texts.filter}
            placeholder={texts.filter}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </div>
        <Button onClick={() => void goToBucket()}>{t.value.shell.goTo}</Button>
        <Button kind="primary" icon="plus" onClick={() => void createBucketDialog()}>
          {texts.create}
        </Button>
      </div>
      {bucketsError.value !== undefined && <ErrorBox error={bucketsError.value} retry={() => void loadBuckets()} />}
      {buckets.value === undefined ? (
        bucketsError.value === undefined && <Skeleton />
      ) : all.length === 0 ? (
        <Empty title={texts.empty}>
          <p>{texts.emptyMeaning}</p>
          <CommandLine command={awsCommand(config.value!, 's3', 'mb', 's3://my-bucket')} />
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title={texts.noMatch} />
      ) : (
        <table class="list-table">
          <thead>
            <tr>
              <th>{texts.name}</th>
              <th class="number hide-narrow">{texts.size}</th>
              <th class="number hide-narrow">{texts.count}</th>
              <th class="hide-narrow">{texts.versioning}</th>
              <th>{texts.access}</th>
              <th class="hide-narrow">{texts.created}</th>
              <th class="fit">
                <span class="visually-hidden">{t.value.common.more}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((bucket) => (
              <BucketRow key={bucket.name} bucket={bucket} />
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function BucketRow({ bucket }: { readonly bucket: Bucket }) {
  const { name, created } = bucket;
  const texts = t.value.buckets;
  const known = facts.value.get(name);
  const use = uses.value.get(name);
  const row = useSeen<HTMLTableRowElement>(() => void loadFacts(session.peek()!.client, name));
  const isFavourite = favourites.value.has(name);
  return (
    <tr ref={row}>
      <td>
        <span class="row">
          <Button
            icon={isFavourite ? 'star' : 'bucket'}
            tip={texts.favourite(name)}
            aria-pressed={isFavourite}
            onClick={() => toggleFavourite(name)}
          />
          <span class="ellipsis">
            <a href={addressOf({ page: 'objects', bucket: name, prefix: '' })}>{visibleName(name)}</a>
            {use && <span class="only-narrow small muted">{size(use.bytes)}</span>}
          </span>
        </span>
      </td>
      <td class="number hide-narrow">{use ? size(use.bytes) : <div class="skeleton" />}</td>
      <td class="number hide-narrow">{use ? number(use.objects) : ''}</td>
      <td class="hide-narrow">
        {known?.versioning && (
          <span class={known.versioning === 'Enabled' ? 'badge good' : 'badge'}>
            {versioningName(known.versioning)}
          </span>
        )}
      </td>
      <td>
        {known?.isPublic !== undefined && (
          <span class={known.isPublic ? 'badge warn' : 'badge'}>{known.isPublic ? texts.public : texts.private}</span>
        )}
      </td>
      <td class="hide-narrow muted" title={exactDate(created)}>
        {date(created)}
      </td>
      <td class="fit">
        <Button
          icon="more"
          label={texts.actionsFor(name)}
          onClick={(event) => openMenuBelow(menuOf(name), texts.actionsFor(name), event)}
        />
      </td>
    </tr>
  );
}

const versioningName = (status: 'Enabled' | 'Suspended' | 'Off'): string =>
  ({ Enabled: t.value.common.on, Suspended: t.value.settings.suspended, Off: t.value.common.off })[status];

function menuOf(name: string): Menu {
  const texts = t.value.buckets;
  return [
    [
      { label: texts.open, icon: 'folder', act: () => go({ page: 'objects', bucket: name, prefix: '' }) },
      {
        label: texts.settings,
        icon: 'settings',
        act: () => go({ page: 'settings', bucket: name, section: 'overview' }),
      },
    ],
    [{ label: texts.delete, icon: 'trash', danger: true, act: () => void deleteBucketDialog(name) }],
  ];
}

function Skeleton() {
  return (
    <div class="stack" role="status" aria-label={t.value.common.loading}>
      {[0, 1, 2].map((row) => (
        <div key={row} class="skeleton" />
      ))}
    </div>
  );
}
