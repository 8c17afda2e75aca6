import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTexts } from '../../shared/texts.tsx';
import classes from './catalog-tabs.module.css';

/** Leads from products to categories and back, for the same location. */
export function CatalogTabs({ locationId }: { locationId: string | undefined }): ReactNode {
  const { tabs: texts } = useTexts().products;
  const search = locationId === undefined ? {} : { location_id: locationId };
  return (
    <nav aria-label={texts.label} className={classes.tabs}>
      <Link to="/products" search={search} activeOptions={{ includeSearch: false }}>
        {texts.products}
      </Link>
      <Link to="/categories" search={search} activeOptions={{ includeSearch: false }}>
        {texts.categories}
      </Link>
    </nav>
  );
}
