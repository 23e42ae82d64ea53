import { computed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { route } from './operator-routes.ts';
import { may } from './operator-session.ts';
import { t } from '../messages/messages.ts';
import { texts } from '../messages/operators.ts';
import { Icon, type IconName } from '../ui/icons.tsx';
import { Mark } from '../ui/mark.tsx';

/** The part of the page that an address belongs to. */
const part = computed(() => {
  const { page } = route.value;
  return page === 'customer' || page === 'project' ? 'customers' : page;
});

/** The shell around every view: the top bar, with what the token allows. */
export function OperatorShell({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="shell wide">
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
        <a class="brand operators-brand" href="/">
          <Mark />
          <span>Stillage</span>
          <span class="badge hide-narrow">{texts.value.name}</span>
        </a>
        <span class="grow hide-narrow" />
        <nav class="row" aria-label={texts.value.name}>
          {may('read') && <TopLink to="customers" icon="people" />}
          {may('bill') && <TopLink to="usage" icon="activity" />}
          {may('read') && <TopLink to="audit" icon="history" />}
          <TopLink to="profile" icon="user" />
        </nav>
      </header>
      <main class="main" id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function TopLink({ to, icon }: { readonly to: 'customers' | 'usage' | 'audit' | 'profile'; readonly icon: IconName }) {
  const name = texts.value[to];
  return (
    <a
      class="button quiet"
      href={to === 'customers' ? '/' : `/${to}`}
      aria-current={part.value === to ? 'page' : undefined}
      title={name}
    >
      <Icon name={icon} />
      <span class="label">{name}</span>
    </a>
  );
}
