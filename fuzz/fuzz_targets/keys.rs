#![cfg_attr(fuzzing, no_main)]

hierad_fuzz::libfuzzer_target!(hierad_fuzz::keys::check);
