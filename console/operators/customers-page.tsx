import { useState } from 'preact/hooks';
import { addressOf, go } from './operator-routes.ts';
import { session } from './operator-session.ts';
import { PagedTable } from './paged-table.tsx';
import { LooksOnly, Suspension } from './suspension.tsx';
import { visibleName } from '../format/names.ts';
import { date, exactDate } from '../messages/messages.ts';
import { texts } from '../messages/operators.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/notices.tsx';
import { usePages } from '../ui/pages.ts';
import { TextField } from '../ui/text-field.tsx';

/** The customers of the service, in pages, and a field that opens one of many by its name. */
export function CustomersPage() {
  const { client } = session.value!;
  const words = texts.value;
  const list = usePages((after, signal) => client.ask('customer list', { after, limit: 100 }, signal), [client]);
  return (
    <div class="page">
      <div class="page-head">
        <h1>{words.customers}</h1>
      </div>
      <LooksOnly />
      <OpenByName />
      <PagedTable
        list={list}
        items={({ customers }) => customers}
        caption={words.customers}
        columns={[{ title: words.customer }, { title: words.created, class: 'hide-narrow' }, { title: words.status }]}
        empty={
          <Empty title={words.noCustomers}>
            <p>{words.noCustomersMeaning}</p>
          </Empty>
        }
        row={({ customer, created, suspended }) => (
          <tr key={customer}>
            <td>
              <a href={addressOf({ page: 'customer', customer })}>{visibleName(customer)}</a>
            </td>
            <td class="hide-narrow" title={exactDate(created)}>
              {date(created)}
            </td>
            <td>
              <Suspension kind="customer" name={customer} suspended={suspended} />
            </td>
          </tr>
        )}
      />
    </div>
  );
}

function OpenByName() {
  const [name, setName] = useState('');
  const words = texts.value;
  return (
    <form
      class="asked"
      onSubmit={(event) => {
        event.preventDefault();
        const given = name.trim();
        if (given === '') return;
        go(given.includes('@') ? { page: 'project', project: given } : { page: 'customer', customer: given });
      }}
    >
      <TextField label={words.openName} value={name} onInput={setName} />
      <Button type="submit">{words.open}</Button>
    </form>
  );
}
