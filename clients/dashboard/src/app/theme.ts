import {
  ActionIcon,
  Alert,
  Button,
  Checkbox,
  createTheme,
  InputWrapper,
  Modal,
  Paper,
  Tooltip,
  type CSSVariablesResolver,
  type MantineColorsTuple,
  type MantineThemeOverride,
} from '@mantine/core';
import { returnFocus } from './focus.ts';

/** The one accent. */
const accent: MantineColorsTuple = [
  '#f2f3fe',
  '#e3e5fc',
  '#c7ccf8',
  '#a6adf3',
  '#868eec',
  '#6c74e2',
  '#565dd0',
  '#484eb4',
  '#3d4294',
  '#31356f',
];

const gray: MantineColorsTuple = [
  '#fafafa',
  '#f5f5f6',
  '#ececee',
  '#e0e0e4',
  '#c9c9cf',
  '#a3a3ac',
  '#74747e',
  '#55555d',
  '#3c3c43',
  '#232328',
];

/** Text, dimmed text, … , borders, surfaces; 7 is the page. */
const dark: MantineColorsTuple = [
  '#ececee',
  '#b6b6bf',
  '#92929d',
  '#65656f',
  '#38383f',
  '#2a2a30',
  '#202025',
  '#17171a',
  '#111113',
  '#0b0b0d',
];

/** Size of explanations and mistakes at fields. */
const small = { fontSize: 'var(--mantine-font-size-xs)' };

/** What the colour of an alert means. */
const tones: Readonly<Record<string, string>> = { red: 'danger', yellow: 'warning', green: 'ok', gray: 'neutral' };

export const theme: MantineThemeOverride = createTheme({
  colors: { accent, gray, dark },
  primaryColor: 'accent',
  primaryShade: 6,
  white: '#ffffff',
  black: '#1d1d21',
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace",
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1.125rem', lineHeight: '1.35' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
      h4: { fontSize: '0.875rem', lineHeight: '1.45' },
    },
  },
  defaultRadius: 'md',
  radius: { xs: '3px', sm: '4px', md: '6px', lg: '8px', xl: '12px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
    Alert: Alert.extend({
      styles: { body: { minWidth: 0 } },
      vars: (_, { color }) => {
        const tone = tones[color ?? ''] ?? 'info';
        return {
          root: {
            '--alert-bg': `var(--tone-${tone}-ground)`,
            '--alert-color': `var(--tone-${tone})`,
            '--alert-bd': '1px solid transparent',
          },
        };
      },
    }),
    Button: Button.extend({
      styles: { label: { fontWeight: 500 } },
      vars: (_, { size = 'sm' }) => ({
        root: size === 'sm' ? { '--button-height': '32px', '--button-padding-x': '12px' } : {},
      }),
    }),
    Checkbox: Checkbox.extend({
      defaultProps: { size: 'xs' },
      styles: { label: small, description: small, error: small },
    }),
    InputWrapper: InputWrapper.extend({ styles: { description: small, error: small } }),
    Modal: Modal.extend({
      defaultProps: {
        centered: true,
        radius: 'lg',
        overlayProps: { backgroundOpacity: 0.4 },
        onExitTransitionEnd: returnFocus,
        // Its header is not the banner of the page.
        attributes: { header: { role: 'presentation' } },
      },
      styles: { title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)', lineHeight: 1.35 } },
    }),
    Paper: Paper.extend({ defaultProps: { radius: 'lg' } }),
    Tooltip: Tooltip.extend({
      defaultProps: {
        openDelay: 300,
        events: { hover: true, focus: true, touch: true },
        // The pointer can move onto it (WCAG 2.2, 1.4.13).
        interactive: true,
        multiline: true,
        maw: 320,
      },
    }),
  },
});

/** Colours of text on tinted ground. Mantine's own have too little contrast (WCAG 2.2, 1.4.3). */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: { '--mantine-line-height': '1.5' },
  light: {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-dimmed': '#5f5f69',
    '--mantine-color-placeholder': '#6d6d77',
    '--mantine-color-error': '#c02626',
    '--mantine-color-anchor': accent[7],
    '--mantine-color-default-border': gray[3],
    '--mantine-color-red-filled': '#c92a2a',
    '--mantine-color-red-filled-hover': '#b02525',
    '--mantine-color-red-light-color': '#a61e1e',
    '--mantine-color-red-text': '#c02626',
    '--mantine-color-yellow-light-color': '#7a4a00',
    '--mantine-color-green-light-color': '#1c6b2e',
    '--mantine-color-blue-light-color': '#1558a0',
    '--mantine-color-accent-light-color': accent[8],
    '--mantine-color-gray-light-color': gray[8],
    '--mantine-color-gray-subtle-color': gray[7],
    '--mantine-color-gray-text': gray[7],
    '--surface-sunken': gray[0],
    '--surface-hover': gray[1],
    '--surface-hover-sunken': gray[2],
    '--surface-active': '#e6e6e9',
    '--tone-ok': '#1c6b2e',
    '--tone-ok-ground': '#e6f5ea',
    '--tone-info': '#3d4294',
    '--tone-info-ground': '#ecedfd',
    '--tone-warning': '#7a4a00',
    '--tone-warning-ground': '#fdf1d8',
    '--tone-danger': '#a61e1e',
    '--tone-danger-ground': '#fdeaea',
    '--tone-neutral': '#4b4b53',
    '--tone-neutral-ground': '#f0f0f2',
  },
  dark: {
    '--mantine-color-body': dark[7],
    '--mantine-color-dimmed': '#a2a2ad',
    '--mantine-color-placeholder': '#8e8e99',
    '--mantine-color-error': '#ff8f8f',
    '--mantine-color-anchor': accent[3],
    '--mantine-color-default': dark[6],
    '--mantine-color-default-border': dark[4],
    '--mantine-color-red-filled': '#c92a2a',
    '--mantine-color-red-filled-hover': '#b02525',
    '--mantine-color-red-light-color': '#ffa8a8',
    '--mantine-color-red-text': '#ff8f8f',
    '--mantine-color-yellow-light-color': '#ffd98a',
    '--mantine-color-green-light-color': '#8ce0a0',
    '--mantine-color-blue-light-color': '#a5d2ff',
    '--mantine-color-accent-light-color': accent[2],
    '--mantine-color-gray-light-color': dark[0],
    '--mantine-color-gray-subtle-color': dark[1],
    '--mantine-color-gray-text': dark[1],
    '--surface-sunken': dark[8],
    '--surface-hover': dark[6],
    '--surface-hover-sunken': dark[6],
    '--surface-active': dark[5],
    '--tone-ok': '#8ce0a0',
    '--tone-ok-ground': '#16301d',
    '--tone-info': '#c7ccf8',
    '--tone-info-ground': '#272a4d',
    '--tone-warning': '#ffd98a',
    '--tone-warning-ground': '#382a10',
    '--tone-danger': '#ffa8a8',
    '--tone-danger-ground': '#3c1a1a',
    '--tone-neutral': '#c4c4cc',
    '--tone-neutral-ground': '#2a2a30',
  },
});
