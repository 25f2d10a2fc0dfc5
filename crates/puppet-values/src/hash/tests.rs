use super::*;

#[test]
fn an_existing_key_keeps_its_position_at_any_size() {
    for size in [3, 30] {
        let mut hash = Hash::new();
        for number in 0..size {
            hash.insert(Value::str(format!("k{number}")), Value::Int(number));
        }
        hash.insert("k1".into(), Value::Int(99));
        assert_eq!(hash.len(), size as usize);
        assert_eq!(hash.get("k1"), Some(&Value::Int(99)));
        assert_eq!(hash.iter().nth(1), Some((&"k1".into(), &Value::Int(99))));
        assert_eq!(hash.get("k30"), None);
    }
}

#[test]
fn an_unsealed_hash_has_correct_traits() {
    let secret = || Value::Sensitive(std::sync::Arc::new(Value::Int(1)));
    let mut hash = Hash::new();
    hash.insert("a".into(), secret());
    let by_hand = Value::Hash(std::sync::Arc::new(hash.clone()));
    assert!(by_hand.traits().has_sensitive);
    assert_eq!(by_hand.traits(), Value::hash(hash).traits());
    assert!(Value::array(vec![by_hand]).traits().has_sensitive);

    let sealed = [("a".into(), Value::Int(1))].into_iter().collect();
    let Value::Hash(sealed) = Value::hash(sealed) else {
        panic!("not a hash");
    };
    let mut changed = Hash::clone(&sealed);
    *changed.get_value_mut(&"a".into()).unwrap() = secret();
    assert!(changed.traits().has_sensitive);
    let mut extended = Hash::clone(&sealed);
    extended.insert("b".into(), secret());
    assert!(extended.traits().has_sensitive);
    assert!(!sealed.traits().has_sensitive);
}

#[test]
fn keys_of_different_types_are_different() {
    let hash: Hash = [(Value::Int(1), "int".into()), ("1".into(), "text".into())]
        .into_iter()
        .collect();
    assert_eq!(hash.get("1"), Some(&"text".into()));
    assert_eq!(hash.get_value(&Value::Int(1)), Some(&"int".into()));
}
