import { effect } from '@preact/signals';
import { baseName, visibleName } from '../format/names.ts';
import { t } from '../messages/messages.ts';
import { route, type Route } from '../session/router.ts';
import { session } from '../session/session.ts';

/** Names the page in the browser's tab and history, by what it shows. Returns what ends this. */
export const keepTitle = (): (() => void) =>
  effect(() => {
    const parts = session.value === undefined ? [t.value.signIn.title] : namesOf(route.value);
    document.title = [...parts.map(visibleName), 'Stillage'].join(' · ');
  });

function namesOf(shown: Route): readonly string[] {
  const { shell, settings } = t.value;
  switch (shown.page) {
    case 'objects': {
      const name = baseName(shown.selected ?? shown.prefix);
      return name === '' ? [shown.bucket] : [name, shown.bucket];
    }
    case 'settings':
      return [settings.title(shown.bucket)];
    case 'people':
      return shown.user === undefined ? [shell.people] : [shown.user, shell.people];
    case 'unknown':
      return [shell.notFound];
    default:
      return [shell[shown.page]];
  }
}
