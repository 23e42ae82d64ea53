import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { showShortcuts } from './shortcuts.tsx';
import { t } from '../messages/messages.ts';
import { goToBucket } from '../panels/go-to-bucket.tsx';
import { favourites, grantedFavourites, sortedBuckets } from '../session/known-buckets.ts';
import { addressOf, go, route } from '../session/router.ts';
import { activeJobs, failedJobs } from '../transfers/queue.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { Mark } from '../ui/mark.tsx';
import { visibleName } from '../format/names.ts';

const isMenuOpen = signal(false);
// Parts of the route, so that their dependents are not rendered again when an object is selected.
const page = computed(() => route.value.page);
const presentBucket = computed(() => ('bucket' in route.value ? route.value.bucket : undefined));

const isOffline = signal(!navigator.onLine);
addEventListener('offline', () => (isOffline.value = true));
addEventListener('online', () => (isOffline.value = false));

/** The shell around every page: the top bar, and the list of buckets at the side. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  useEffect(
    () =>
      route.subscribe(() => {
        isMenuOpen.value = false;
      }),
    [],
  );
  useEffect(() => {
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const withSide = page.value === 'objects' || page.value === 'settings';
  return (
    <div class={withSide ? 'shell' : 'shell wide'}>
      <a
        class="button skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        {t.value.common.skip}
      </a>
      <header class="top">
        <Button
          class="menu-button"
          icon="menu"
          label={t.value.shell.menu}
          aria-expanded={isMenuOpen.value}
          onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
        />
        <a class="brand" href="/" title={t.value.shell.allBuckets}>
          <Mark />
          <span>Stillage</span>
        </a>
        <span class="grow hide-narrow" />
        <nav class="row" aria-label="Stillage">
          <TopLink to="transfers" icon="transfers" count={activeJobs.value.length} failed={failedJobs.value.length} />
          <TopLink to="activity" icon="activity" />
          <TopLink to="people" icon="people" />
          <TopLink to="profile" icon="user" />
        </nav>
      </header>
      <Side />
      <main class={page.value === 'objects' ? 'main columns' : 'main'} id="main" tabIndex={-1}>
        {isOffline.value && (
          <p class="offline-bar" role="status">
            {t.value.shell.offline}
          </p>
        )}
        {children}
      </main>
    </div>
  );
}

function TopLink({
  to,
  icon,
  count = 0,
  failed = 0,
}: {
  readonly to: 'transfers' | 'activity' | 'people' | 'profile';
  readonly icon: 'transfers' | 'activity' | 'people' | 'user';
  readonly count?: number;
  readonly failed?: number;
}) {
  const name = t.value.shell[to];
  const texts = t.value.transfers;
  return (
    <a
      class="button quiet"
      href={`/${to}`}
      aria-current={page.value === to ? 'page' : undefined}
      title={failed > 0 ? texts.countFailed(failed) : count > 0 ? texts.count(count) : name}
    >
      <Icon name={icon} />
      <span class="label">{name}</span>
      {count + failed > 0 && <span class={failed > 0 ? 'badge-count bad' : 'badge-count'}>{count + failed}</span>}
    </a>
  );
}

function Side() {
  const bucket = presentBucket.value;
  const own = sortedBuckets.value.map(({ name }) => name);
  const others = [...grantedFavourites.value];
  if (bucket !== undefined && !own.includes(bucket) && !others.includes(bucket)) others.push(bucket);
  return (
    <nav class={isMenuOpen.value ? 'side open' : 'side'} aria-label={t.value.shell.buckets}>
      <div class="side-head">
        <h3>{t.value.shell.buckets}</h3>
        <Button icon="search" tip={t.value.shell.goTo} onClick={() => void goToBucket()} />
      </div>
      <ul class="side-list">
        {[...own, ...others].map((name) => (
          <li key={name}>
            <a
              href={addressOf({ page: 'objects', bucket: name, prefix: '' })}
              aria-current={name === bucket ? 'page' : undefined}
              title={name}
            >
              <Icon name={favourites.value.has(name) ? 'star' : 'bucket'} />
              <span>{visibleName(name)}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

let lastKey = { key: '', at: 0 };

/** Keyboard shortcuts of every page, outside of fields. */
function onKey(event: KeyboardEvent): void {
  const field = event.target instanceof Element && event.target.closest('input, textarea, select, dialog, [role=menu]');
  if (field || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '?') void showShortcuts();
  else if (event.key === 'b' && lastKey.key === 'g' && event.timeStamp - lastKey.at < 1_000) go({ page: 'buckets' });
  lastKey = { key: event.key, at: event.timeStamp };
}
