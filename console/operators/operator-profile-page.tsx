import { session, signOut } from './operator-session.ts';
import { exactDate, language, languages, setLanguage, t, type Language } from '../messages/messages.ts';
import { texts } from '../messages/operators.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/select.tsx';

/** Who is signed in, and what the token allows; the language. */
export function OperatorProfilePage() {
  const { operator, scopes, until } = session.value!;
  const words = texts.value;
  return (
    <div class="page stack">
      <div class="page-head">
        <h1>{words.profile}</h1>
        <Button onClick={() => signOut('asked')}>{t.value.profile.signOut}</Button>
      </div>
      <dl class="details-list">
        <dt>{words.operator}</dt>
        <dd>{operator}</dd>
        <dt>{words.scopesTitle}</dt>
        {scopes.map((scope) => (
          <dd key={scope} class="scope">
            <code>{scope}</code> {words.scopes[scope]}
          </dd>
        ))}
        <dt>{words.until}</dt>
        <dd>{until === undefined ? words.never : exactDate(until)}</dd>
      </dl>
      <p class="hint">{words.tokenMeaning}</p>
      <div class="short-field">
        <Select
          label={t.value.profile.language}
          value={language.value}
          options={Object.entries(languages) as [Language, string][]}
          onInput={(chosen) => void setLanguage(chosen)}
        />
      </div>
    </div>
  );
}
